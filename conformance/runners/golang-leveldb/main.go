// Command golang-leveldb answers the cases of the conformance suite with github.com/golang/leveldb.
//
// A line with a case comes in, {"case": NAME, "kind": KIND, "given": {…}}, and a line goes out: {"case": NAME, "answer":
// {…}}, without "answer" where the package has no interface for the case.
package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"io"
	"log"
	"os"

	"github.com/golang/leveldb/bloom"
	"github.com/golang/leveldb/db"
	"github.com/golang/leveldb/memfs"
	"github.com/golang/leveldb/table"
)

type given struct {
	Policy          string      `json:"policy"`
	BitsPerKey      *int        `json:"bits_per_key"`
	Keys            []string    `json:"keys"`
	Filter          string      `json:"filter"`
	Key             string      `json:"key"`
	A               string      `json:"a"`
	B               string      `json:"b"`
	InternalKeys    bool        `json:"internal_keys"`
	BlockSize       int         `json:"block_size"`
	RestartInterval int         `json:"restart_interval"`
	Entries         [][2]string `json:"entries"`
	Table           string      `json:"table"`
}

type question struct {
	Case  string `json:"case"`
	Kind  string `json:"kind"`
	Given given  `json:"given"`
}

type object map[string]interface{}

func main() {
	log.SetFlags(0)
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) == 0 {
			return
		}
		check(err)
		var asked question
		check(json.Unmarshal(line, &asked))
		reply := object{"case": asked.Case}
		if answer := answer(asked.Kind, asked.Given); answer != nil {
			reply["answer"] = answer
		}
		out, err := json.Marshal(reply)
		check(err)
		_, err = os.Stdout.Write(append(out, '\n'))
		check(err)
	}
}

func answer(kind string, given given) object {
	if given.InternalKeys || given.Policy != "" {
		return nil
	}
	switch kind {
	case "bloom_create":
		var keys [][]byte
		for _, key := range given.Keys {
			keys = append(keys, decode(key))
		}
		return object{"filter": hex.EncodeToString(bloom.FilterPolicy(*given.BitsPerKey).NewFilter(keys))}
	case "bloom_match":
		return object{"match": bloom.FilterPolicy(10).MayContain(decode(given.Filter), decode(given.Key))}
	case "compare":
		return object{"order": db.DefaultComparer.Compare(decode(given.A), decode(given.B))}
	case "separator":
		key := db.DefaultComparer.AppendSeparator(nil, decode(given.A), decode(given.B))
		return object{"key": hex.EncodeToString(key)}
	case "successor":
		key := db.DefaultComparer.AppendSeparator(nil, decode(given.Key), nil)
		return object{"key": hex.EncodeToString(key)}
	case "table_build":
		options := &db.Options{
			BlockRestartInterval: given.RestartInterval,
			BlockSize:            given.BlockSize,
			Compression:          db.NoCompression,
		}
		if given.BitsPerKey != nil {
			options.FilterPolicy = bloom.FilterPolicy(*given.BitsPerKey)
		}
		files := memfs.New()
		file, err := files.Create("table")
		check(err)
		writer := table.NewWriter(file, options)
		for _, entry := range given.Entries {
			if writer.Set(decode(entry[0]), decode(entry[1]), nil) != nil {
				return object{"error": true}
			}
		}
		check(writer.Close())
		written, err := files.Open("table")
		check(err)
		contents, err := io.ReadAll(written)
		check(err)
		return object{"table": hex.EncodeToString(contents)}
	case "table_get":
		reader := open(given.Table)
		defer reader.Close()
		value, err := reader.Get(decode(given.Key), nil)
		switch {
		case err == db.ErrNotFound:
			return object{"absent": true}
		case err != nil:
			return object{"error": true}
		}
		return object{"value": hex.EncodeToString(value)}
	case "table_scan":
		reader := open(given.Table)
		defer reader.Close()
		iterator, entries := reader.Find(nil, nil), [][2]string{}
		for iterator.Next() {
			entries = append(entries, [2]string{hex.EncodeToString(iterator.Key()), hex.EncodeToString(iterator.Value())})
		}
		if iterator.Close() != nil {
			return object{"error": true}
		}
		return object{"entries": entries}
	}
	return nil
}

func open(contents string) *table.Reader {
	files := memfs.New()
	file, err := files.Create("table")
	check(err)
	_, err = file.Write(decode(contents))
	check(err)
	check(file.Close())
	file, err = files.Open("table")
	check(err)
	return table.NewReader(file, &db.Options{FilterPolicy: bloom.FilterPolicy(10), VerifyChecksums: true})
}

func decode(text string) []byte {
	bytes, err := hex.DecodeString(text)
	check(err)
	return bytes
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
