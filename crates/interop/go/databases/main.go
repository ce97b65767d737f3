// Command databases writes a database with goleveldb.
//
//	GO111MODULE=off GOPATH=/usr/share/gocode go build -o databases main.go
//	databases [options] FOLDER < STEPS
//
// STEPS has a line for each step, with spaces between the fields, and keys and values in hexadecimal after "=":
//
//	put =KEY =VALUE
//	delete =KEY
//	write            applies the puts and deletes since the last write
//	compact          the whole database
//	compact =A =B    the keys from A to before B
//	snapshot         takes a snapshot and holds it until the database is closed
//	reopen
package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"flag"
	"log"
	"os"
	"strings"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"
)

// order is a comparer under a name of its own.
type order struct {
	name    string
	reverse bool
}

func (o order) Compare(a, b []byte) int {
	if o.reverse {
		a, b = b, a
	}
	return bytes.Compare(a, b)
}
func (o order) Name() string                      { return "filterblock.testdata." + o.name }
func (o order) Separator(dst, a, b []byte) []byte { return nil }
func (o order) Successor(dst, b []byte) []byte    { return nil }

func main() {
	log.SetFlags(0)
	bits := flag.Int("bits", 0, "bits a key; 0 for no filter")
	baseLg := flag.Int("base-lg", 11, "FilterBaseLg")
	blockSize := flag.Int("block-size", 4096, "BlockSize")
	snappy := flag.Bool("snappy", false, "compress with Snappy")
	keyOrder := flag.String("order", "bytewise", "bytewise; renamed, with a comparer of another name; or reversed, on level 0 only")
	tableSize := flag.Int("table-size", 2<<20, "CompactionTableSize")
	writeBuffer := flag.Int("write-buffer", 4<<20, "WriteBuffer")
	flag.Parse()
	if flag.NArg() != 1 {
		log.Fatal("usage: databases [options] FOLDER < STEPS")
	}
	options := &opt.Options{
		BlockSize:                     *blockSize,
		CompactionTableSize:           *tableSize,
		CompactionTotalSize:           2 * *tableSize,
		CompactionTotalSizeMultiplier: 3,
		Compression:                   opt.NoCompression,
		FilterBaseLg:                  *baseLg,
		WriteBuffer:                   *writeBuffer,
	}
	if *bits > 0 {
		options.Filter = filter.NewBloomFilter(*bits)
	}
	if *snappy {
		options.Compression = opt.SnappyCompression
	}
	switch *keyOrder {
	case "bytewise":
	case "renamed":
		options.Comparer = order{name: "Renamed"}
	case "reversed":
		options.Comparer = order{name: "Reversed", reverse: true}
		// Compaction would find overlapping tables by bytes.Compare.
		options.CompactionL0Trigger = 1000
		options.WriteL0SlowdownTrigger = 1000
		options.WriteL0PauseTrigger = 1000
		options.DisableSeeksCompaction = true
	default:
		log.Fatalf("no such order: %q", *keyOrder)
	}
	open := func() *leveldb.DB {
		db, err := leveldb.OpenFile(flag.Arg(0), options)
		check(err)
		return db
	}

	db := open()
	batch := new(leveldb.Batch)
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
		switch fields[0] {
		case "put":
			batch.Put(operands[0], operands[1])
		case "delete":
			batch.Delete(operands[0])
		case "write":
			check(db.Write(batch, nil))
			batch.Reset()
		case "compact":
			keys := util.Range{}
			if len(operands) == 2 {
				keys = util.Range{Start: operands[0], Limit: operands[1]}
			}
			check(db.CompactRange(keys))
		case "snapshot":
			_, err := db.GetSnapshot()
			check(err)
		case "reopen":
			check(db.Close())
			db = open()
		default:
			log.Fatalf("no such step: %q", fields[0])
		}
	}
	check(steps.Err())
	check(db.Close())
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
