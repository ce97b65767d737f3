// Command tables writes and reads individual tables with goleveldb.
//
//	GO111MODULE=off GOPATH=/usr/share/gocode go build -o tables main.go
//	tables write [options] TABLE < LISTING
//	tables read TABLE < KEYS
//
// A LISTING has a line for each entry, in ascending order of the keys: key, tab, value. KEYS has a line for each key to
// look up. All keys and values are in hexadecimal.
//
// Standard output has a line for each entry of the table
//
//	entry KEY VALUE
//
// and a line for each key to look up
//
//	key KEY ANSWER FILTERED PLAIN
//
// with tabs between the fields. ANSWER is the filter's: "yes", "no", or "unasked". FILTERED and PLAIN are the results with
// the filter and without it: "=" and the value, or "absent".
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

	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"
	"github.com/syndtr/goleveldb/leveldb/table"
)

const usage = "usage: tables write [options] TABLE < LISTING, or tables read TABLE < KEYS"

func main() {
	log.SetFlags(0)
	if len(os.Args) < 2 {
		log.Fatal(usage)
	}
	out := bufio.NewWriter(os.Stdout)
	switch arguments := os.Args[2:]; os.Args[1] {
	case "write":
		write(arguments, os.Stdin)
	case "read":
		read(arguments, os.Stdin, out)
	default:
		log.Fatal(usage)
	}
	check(out.Flush())
}

func write(arguments []string, listing io.Reader) {
	flags := flag.NewFlagSet("write", flag.ExitOnError)
	bits := flags.Int("bits", 0, "bits a key; 0 for no filter")
	baseLg := flags.Int("base-lg", 0, "FilterBaseLg; goleveldb takes 0 as its default, 11")
	blockSize := flags.Int("block-size", 4096, "BlockSize")
	restartInterval := flags.Int("restart-interval", 16, "BlockRestartInterval")
	snappy := flags.Bool("snappy", false, "compress with Snappy")
	check(flags.Parse(arguments))
	if flags.NArg() != 1 {
		log.Fatal(usage)
	}

	options := &opt.Options{
		BlockRestartInterval: *restartInterval,
		BlockSize:            *blockSize,
		Compression:          opt.NoCompression,
		FilterBaseLg:         *baseLg,
	}
	if *bits > 0 {
		options.Filter = filter.NewBloomFilter(*bits)
	}
	if *snappy {
		options.Compression = opt.SnappyCompression
	}
	file, err := os.Create(flags.Arg(0))
	check(err)
	writer := table.NewWriter(file, options)
	lines(listing, func(line string) {
		key, value, found := strings.Cut(line, "\t")
		if !found {
			log.Fatalf("no tab in %q", line)
		}
		check(writer.Append(decode(key), decode(value)))
	})
	check(writer.Close())
	check(file.Close())
}

// watched is a filter that remembers its answers.
type watched struct {
	filter.Filter
	answer string
}

func (w *watched) Contains(filter, key []byte) bool {
	contains := w.Filter.Contains(filter, key)
	if contains {
		w.answer = "yes"
	} else {
		w.answer = "no"
	}
	return contains
}

func read(arguments []string, keys io.Reader, out io.Writer) {
	if len(arguments) != 1 {
		log.Fatal(usage)
	}
	contents, err := os.ReadFile(arguments[0])
	check(err)
	// The filter itself holds the number of probes; bits a key do not matter for reading.
	watched := &watched{Filter: filter.NewBloomFilter(10)}
	options := &opt.Options{Filter: watched, Strict: opt.StrictAll}
	reader, err := table.NewReader(bytes.NewReader(contents), int64(len(contents)), storage.FileDesc{}, nil, nil, options)
	check(err)
	defer reader.Release()

	entries := reader.NewIterator(nil, nil)
	for entries.Next() {
		fmt.Fprintf(out, "entry\t%x\t%x\n", entries.Key(), entries.Value())
	}
	check(entries.Error())
	entries.Release()

	lines(keys, func(line string) {
		key := decode(line)
		watched.answer = "unasked"
		// This is the first entry at or after the key, unless the filter denies the key.
		found, value, err := reader.Find(key, true, nil)
		filtered := show(value, err)
		if err == nil && !bytes.Equal(found, key) {
			filtered = "absent"
		}
		value, err = reader.Get(key, nil)
		fmt.Fprintf(out, "key\t%x\t%s\t%s\t%s\n", key, watched.answer, filtered, show(value, err))
	})
}

func show(value []byte, err error) string {
	if err == table.ErrNotFound {
		return "absent"
	}
	check(err)
	return fmt.Sprintf("=%x", value)
}

func lines(reader io.Reader, line func(string)) {
	scanner := bufio.NewScanner(reader)
	scanner.Buffer(nil, 64<<20)
	for scanner.Scan() {
		line(scanner.Text())
	}
	check(scanner.Err())
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
