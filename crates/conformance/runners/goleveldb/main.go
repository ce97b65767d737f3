// Command goleveldb answers the cases of the conformance suite with github.com/syndtr/goleveldb.
//
// A line with a case comes in, {"case": NAME, "kind": KIND, "given": {…}}, and a line goes out: {"case": NAME, "answer":
// {…}}, without "answer" where goleveldb has no interface for the case.
package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"log"
	"os"
	"path/filepath"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/comparer"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"
	"github.com/syndtr/goleveldb/leveldb/table"
	"github.com/syndtr/goleveldb/leveldb/util"
)

type given struct {
	Policy          string            `json:"policy"`
	BitsPerKey      *int              `json:"bits_per_key"`
	Keys            []string          `json:"keys"`
	Filter          string            `json:"filter"`
	Key             string            `json:"key"`
	A               string            `json:"a"`
	B               string            `json:"b"`
	InternalKeys    bool              `json:"internal_keys"`
	BlockSize       int               `json:"block_size"`
	RestartInterval int               `json:"restart_interval"`
	Entries         [][2]string       `json:"entries"`
	Table           string            `json:"table"`
	Files           map[string]string `json:"files"`
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
	// goleveldb's filters have the older name; LevelDB's own are asked for with no name.
	if given.InternalKeys || given.Policy != "" && given.Policy != "leveldb.BuiltinBloomFilter" {
		return nil
	}
	switch kind {
	case "bloom_create":
		generator := filter.NewBloomFilter(*given.BitsPerKey).NewGenerator()
		for _, key := range given.Keys {
			generator.Add(decode(key))
		}
		buffer := &util.Buffer{}
		generator.Generate(buffer)
		return object{"filter": hex.EncodeToString(buffer.Bytes())}
	case "bloom_match":
		return object{"match": filter.NewBloomFilter(10).Contains(decode(given.Filter), decode(given.Key))}
	case "compare":
		return object{"order": comparer.DefaultComparer.Compare(decode(given.A), decode(given.B))}
	case "separator":
		if key := comparer.DefaultComparer.Separator(nil, decode(given.A), decode(given.B)); key != nil {
			return object{"key": hex.EncodeToString(key)}
		}
		return object{"key": given.A}
	case "successor":
		if key := comparer.DefaultComparer.Successor(nil, decode(given.Key)); key != nil {
			return object{"key": hex.EncodeToString(key)}
		}
		return object{"key": given.Key}
	case "table_build":
		options := &opt.Options{
			BlockRestartInterval: given.RestartInterval,
			BlockSize:            given.BlockSize,
			Compression:          opt.NoCompression,
		}
		if given.BitsPerKey != nil {
			options.Filter = renamed{filter.NewBloomFilter(*given.BitsPerKey)}
		}
		var file bytes.Buffer
		writer := table.NewWriter(&file, options)
		for _, entry := range given.Entries {
			check(writer.Append(decode(entry[0]), decode(entry[1])))
		}
		check(writer.Close())
		return object{"table": hex.EncodeToString(file.Bytes())}
	case "table_get":
		reader, err := open(given.Table)
		if err != nil {
			return object{"error": true}
		}
		defer reader.Release()
		key := decode(given.Key)
		found, value, err := reader.Find(key, true, nil)
		if err == nil && !bytes.Equal(found, key) {
			err = table.ErrNotFound
		}
		return got(value, err == table.ErrNotFound, err)
	case "table_scan":
		reader, err := open(given.Table)
		if err != nil {
			return object{"error": true}
		}
		defer reader.Release()
		iterator := reader.NewIterator(nil, nil)
		defer iterator.Release()
		return listed(iterator)
	case "database_get":
		return inDatabase(given.Files, func(database *leveldb.DB) object {
			value, err := database.Get(decode(given.Key), nil)
			return got(value, err == leveldb.ErrNotFound, err)
		})
	case "database_scan":
		return inDatabase(given.Files, func(database *leveldb.DB) object {
			iterator := database.NewIterator(nil, nil)
			defer iterator.Release()
			return listed(iterator)
		})
	}
	return nil
}

// renamed stores and finds filters under LevelDB's present name: the filters are the same.
type renamed struct{ filter.Filter }

func (renamed) Name() string { return "leveldb.BuiltinBloomFilter2" }

func options() *opt.Options {
	return &opt.Options{Filter: renamed{filter.NewBloomFilter(10)}, Strict: opt.StrictAll, ErrorIfMissing: true}
}

func open(file string) (*table.Reader, error) {
	contents := decode(file)
	descriptor := storage.FileDesc{Type: storage.TypeTable, Num: 1}
	return table.NewReader(bytes.NewReader(contents), int64(len(contents)), descriptor, nil, nil, options())
}

func inDatabase(files map[string]string, ask func(*leveldb.DB) object) object {
	folder, err := os.MkdirTemp("", "conformance")
	check(err)
	defer os.RemoveAll(folder)
	for name, contents := range files {
		check(os.WriteFile(filepath.Join(folder, name), decode(contents), 0o600))
	}
	database, err := leveldb.OpenFile(folder, options())
	if err != nil {
		return object{"error": true}
	}
	defer database.Close()
	return ask(database)
}

func got(value []byte, absent bool, err error) object {
	switch {
	case absent:
		return object{"absent": true}
	case err != nil:
		return object{"error": true}
	}
	return object{"value": hex.EncodeToString(value)}
}

type cursor interface {
	Next() bool
	Key() []byte
	Value() []byte
	Error() error
}

func listed(cursor cursor) object {
	entries := [][2]string{}
	for cursor.Next() {
		entries = append(entries, [2]string{hex.EncodeToString(cursor.Key()), hex.EncodeToString(cursor.Value())})
	}
	if cursor.Error() != nil {
		return object{"error": true}
	}
	return object{"entries": entries}
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
