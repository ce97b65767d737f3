// Command get times lookups in a table in memory with goleveldb.
//
//	GO111MODULE=off GOPATH=/usr/share/gocode go build -o get main.go
//	get KEY_SIZE ROUNDS TABLE KEYS
//
// KEYS is a file of keys without separators. Prints the time of a lookup in nanoseconds, within which the fastest
// twentieth of the rounds stays, and the number of keys that were found. Each round looks up the next thousand of the
// keys. Checksums are not verified, blocks are not cached, and their memory is reused, as in a database.
package main

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"sort"
	"strconv"
	"time"

	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"
	"github.com/syndtr/goleveldb/leveldb/table"
	"github.com/syndtr/goleveldb/leveldb/util"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 5 {
		log.Fatal("usage: get KEY_SIZE ROUNDS TABLE KEYS")
	}
	size, rounds := number(1), number(2)
	contents, keys := read(3), read(4)
	options := &opt.Options{Filter: filter.NewBloomFilter(10), Strict: opt.NoStrict}
	pool := util.NewBufferPool(4096 + 5)
	reader, err := table.NewReader(bytes.NewReader(contents), int64(len(contents)), storage.FileDesc{}, nil, pool, options)
	if err != nil {
		log.Fatal(err)
	}
	defer reader.Release()

	found := 0
	look := func(keys []byte) {
		for ; len(keys) > 0; keys = keys[size:] {
			key, _, err := reader.Find(keys[:size], true, nil)
			if err == nil && bytes.Equal(key, keys[:size]) {
				found++
			} else if err != nil && err != table.ErrNotFound {
				log.Fatal(err)
			}
		}
	}
	look(keys)
	total, round := found, 1000*size
	var times []float64
	for i := 0; i < rounds; i++ {
		first := i * round % len(keys)
		start := time.Now()
		look(keys[first : first+round])
		times = append(times, float64(time.Since(start).Nanoseconds())/1000)
	}
	sort.Float64s(times)
	fmt.Println(times[len(times)/20], total)
}

func read(argument int) []byte {
	contents, err := os.ReadFile(os.Args[argument])
	if err != nil {
		log.Fatal(err)
	}
	return contents
}

func number(argument int) int {
	value, err := strconv.Atoi(os.Args[argument])
	if err != nil {
		log.Fatal(err)
	}
	return value
}
