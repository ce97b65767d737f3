// Command generate-databases writes the databases in testdata/goleveldb.
//
//	GO111MODULE=off GOPATH=/usr/share/gocode go run main.go TARGET
//
// TARGET must not contain any of them. The files are the same every time.
package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"
)

// open opens a database with small tables and room for only a few of them on levels 1 and 2.
func open(path string, baseLg int) *leveldb.DB {
	db, err := leveldb.OpenFile(path, &opt.Options{
		BlockSize:                     1024,
		CompactionL0Trigger:           100, // level 0 is compacted only on request
		CompactionTableSize:           4 * 1024,
		CompactionTotalSize:           6 * 1024,
		CompactionTotalSizeMultiplier: 2,
		DisableSeeksCompaction:        true,
		Filter:                        filter.NewBloomFilter(10),
		FilterBaseLg:                  baseLg,
	})
	check(err)
	return db
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: generate-databases TARGET")
	}
	for _, baseLg := range []int{11, 19} {
		path := filepath.Join(os.Args[1], fmt.Sprintf("base-lg-%d", baseLg))
		if _, err := os.Lstat(path); !os.IsNotExist(err) {
			log.Fatalf("%s is already there", path)
		}
		generate(path, baseLg)
	}
}

// generate leaves tables on levels 0, 1 and 2 and a log. Some keys have several versions, some are deleted.
// It prints the tables that goleveldb takes to be live: level, number, size and the range of internal keys.
func generate(path string, baseLg int) {
	db := open(path, baseLg)
	put(db, 0, 3000, "first")
	compact(db, 0, 3000)
	check(db.Close())

	// Opening the database moves the contents of a log to level 0.
	db = open(path, baseLg)
	put(db, 600, 900, "second")
	remove(db, 30, 60)
	check(db.Close())

	// The first record of this MANIFEST names the newest table twice. Later edits remove tables and add others.
	db = open(path, baseLg)
	put(db, 2000, 2400, "third")
	remove(db, 2100, 2130)
	compact(db, 2000, 2400)

	tables, err := db.GetProperty("leveldb.sstables")
	check(err)
	fmt.Printf("%s\n%s", filepath.Base(path), tables)

	// These stay in the log.
	put(db, 3000, 3030, "log")
	remove(db, 0, 3)
	check(db.Close())

	// LOG and LOCK hold no data, LOG only times.
	check(os.Remove(filepath.Join(path, "LOG")))
	check(os.Remove(filepath.Join(path, "LOCK")))
}

// compact moves the tables with keys of this range off level 0, and waits until the excess on the levels below has
// moved further down.
func compact(db *leveldb.DB, from, to int) {
	check(db.CompactRange(util.Range{Start: key(from), Limit: key(to)}))
	before := ""
	for {
		tables, err := db.GetProperty("leveldb.sstables")
		check(err)
		if tables == before {
			return
		}
		before = tables
		time.Sleep(500 * time.Millisecond)
	}
}

func key(i int) []byte {
	return []byte(fmt.Sprintf("key%06d", i))
}

// put writes every third key, so that absent keys lie between the others.
func put(db *leveldb.DB, from, to int, round string) {
	for i := from; i < to; i += 3 {
		value := fmt.Sprintf("%s value of %d, %x", round, i, uint32(i)*2654435761)
		check(db.Put(key(i), []byte(value), nil))
	}
}

func remove(db *leveldb.DB, from, to int) {
	for i := from; i < to; i += 3 {
		check(db.Delete(key(i), nil))
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
