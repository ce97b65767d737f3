// Command rebuild opens a database with goleveldb and looks keys up, writes to it, or holds it open.
//
//	GO111MODULE=off GOPATH=/usr/share/gocode go build -o rebuild main.go
//	rebuild [options] FOLDER < STEPS
//
// STEPS has a line for each step, with spaces between the fields, and keys and values in hexadecimal after "=":
//
//	get =KEY =VALUE    the key has this value
//	miss =KEY          the key is not there
//	next =KEY =VALUE   the iterator's next entry is this
//	end                the iterator has no further entry; a "next" after this begins with another iterator
//	put =KEY =VALUE    the key gets this value
//	delete =KEY        the key is deleted
//	compact            the whole database is compacted
//
// The program ends at the first difference. Otherwise it prints at the end how often filters were asked, and how often
// they denied. With -hold, it prints "open", and holds the database open until standard input ends.
package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"sync/atomic"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/iterator"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"
)

// counting is a filter under a name of its own that counts the questions to it.
type counting struct {
	filter.Filter
	name          string
	asked, denied *int64
}

func (c counting) Name() string { return c.name }
func (c counting) Contains(filter, key []byte) bool {
	answer := c.Filter.Contains(filter, key)
	atomic.AddInt64(c.asked, 1)
	if !answer {
		atomic.AddInt64(c.denied, 1)
	}
	return answer
}

func main() {
	log.SetFlags(0)
	name := flag.String("filter", "", "name of the filter policy; empty for none")
	hold := flag.Bool("hold", false, "hold the database open")
	flag.Parse()
	if flag.NArg() != 1 {
		log.Fatal("usage: rebuild [options] FOLDER < STEPS")
	}
	var asked, denied int64
	options := &opt.Options{ErrorIfMissing: true, Strict: opt.StrictAll, DisableSeeksCompaction: true}
	if *name != "" {
		options.Filter = counting{filter.NewBloomFilter(10), *name, &asked, &denied}
	}
	db, err := leveldb.OpenFile(flag.Arg(0), options)
	check(err)
	if *hold {
		fmt.Println("open")
		_, err := io.Copy(io.Discard, os.Stdin)
		check(err)
		check(db.Close())
		return
	}

	var all iterator.Iterator
	steps := bufio.NewScanner(os.Stdin)
	steps.Buffer(nil, 64<<20)
	for steps.Scan() {
		fields := strings.Fields(steps.Text())
		operands := make([][]byte, 0, 2)
		for _, field := range fields[1:] {
			operand, err := hex.DecodeString(strings.TrimPrefix(field, "="))
			check(err)
			operands = append(operands, operand)
		}
		if all == nil && (fields[0] == "next" || fields[0] == "end") {
			all = db.NewIterator(nil, nil)
		}
		switch fields[0] {
		case "get":
			value, err := db.Get(operands[0], nil)
			if err != nil {
				log.Fatalf("get %x: %v", operands[0], err)
			}
			if !bytes.Equal(value, operands[1]) {
				log.Fatalf("get %x: another value", operands[0])
			}
		case "miss":
			if _, err := db.Get(operands[0], nil); err != leveldb.ErrNotFound {
				log.Fatalf("get %x, which is absent: %v", operands[0], err)
			}
		case "next":
			if !all.Next() {
				log.Fatalf("the iterator ends before %x: %v", operands[0], all.Error())
			}
			if !bytes.Equal(all.Key(), operands[0]) || !bytes.Equal(all.Value(), operands[1]) {
				log.Fatalf("the iterator is at %x, or has another value, instead of %x", all.Key(), operands[0])
			}
		case "end":
			if all.Next() {
				log.Fatalf("the iterator goes on with %x", all.Key())
			}
			check(all.Error())
			all.Release()
			all = nil
		case "put":
			check(db.Put(operands[0], operands[1], nil))
		case "delete":
			check(db.Delete(operands[0], nil))
		case "compact":
			check(db.CompactRange(util.Range{}))
		default:
			log.Fatalf("no such step: %q", fields[0])
		}
	}
	check(steps.Err())
	check(db.Close())
	fmt.Println(asked, denied)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
