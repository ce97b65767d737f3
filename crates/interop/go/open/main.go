// Command open opens databases with goleveldb and reads everything in them.
//
//	GO111MODULE=off GOPATH=/usr/share/gocode go build -o open main.go
//	open < FOLDERS
//
// It answers each line, the folder of a database, with a line: "ok COUNT HASH", or what went wrong. COUNT entries are
// live, and HASH is the FNV-1a hash of 64 bits over all keys and values, each after its length in 8 bytes,
// little-endian. Each key is sought by itself as well, so that filters are asked.
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"log"
	"os"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
)

func main() {
	log.SetFlags(0)
	folders := bufio.NewScanner(os.Stdin)
	for folders.Scan() {
		count, hash, err := read(folders.Text())
		if err != nil {
			fmt.Printf("%q\n", err)
		} else {
			fmt.Printf("ok %d %d\n", count, hash)
		}
	}
	if err := folders.Err(); err != nil {
		log.Fatal(err)
	}
}

func read(folder string) (count int, sum uint64, err error) {
	db, err := leveldb.OpenFile(folder, &opt.Options{
		ErrorIfMissing: true,
		Filter:         filter.NewBloomFilter(10),
		NoSync:         true,
		Strict:         opt.StrictAll,
	})
	if err != nil {
		return 0, 0, err
	}
	defer func() {
		if closed := db.Close(); err == nil {
			err = closed
		}
	}()
	hash := fnv.New64a()
	write := func(bytes []byte) {
		var size [8]byte
		binary.LittleEndian.PutUint64(size[:], uint64(len(bytes)))
		hash.Write(size[:])
		hash.Write(bytes)
	}
	entries := db.NewIterator(nil, nil)
	defer entries.Release()
	for entries.Next() {
		value, err := db.Get(entries.Key(), nil)
		if err != nil {
			return 0, 0, fmt.Errorf("%q: %w", entries.Key(), err)
		}
		if !bytes.Equal(value, entries.Value()) {
			return 0, 0, fmt.Errorf("%q has two values", entries.Key())
		}
		write(entries.Key())
		write(value)
		count++
	}
	return count, hash.Sum64(), entries.Error()
}
