// Command speed times goleveldb's Bloom filters.
//
//	GO111MODULE=off GOPATH=/usr/share/gocode go build -o speed main.go
//	speed BITS_PER_KEY KEY_SIZE PER_FILTER ROUNDS PRESENT ABSENT FILTERS
//
// PRESENT and ABSENT are files of keys without separators. FILTERS is a file of filters, each after its length in 32 bits,
// one for every PER_FILTER keys of PRESENT: the filters that goleveldb builds must equal them. Prints the
// nanoseconds a key to build, to ask for a present key and to ask for an absent key, within which the fastest
// twentieth of the rounds stays, and the number of present and of absent keys that were answered with "may match".
package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"log"
	"os"
	"sort"
	"strconv"
	"time"

	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/util"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 8 {
		log.Fatal("usage: speed BITS_PER_KEY KEY_SIZE PER_FILTER ROUNDS PRESENT ABSENT FILTERS")
	}
	bits, size, perFilter, rounds := number(1), number(2), number(3), number(4)
	present, absent := keys(os.Args[5], size), keys(os.Args[6], size)
	var filters [][]byte
	for rest := read(os.Args[7]); len(rest) > 0; {
		end := 4 + binary.LittleEndian.Uint32(rest)
		filters = append(filters, rest[4:end])
		rest = rest[end:]
	}

	policy := filter.NewBloomFilter(bits)
	generator := policy.NewGenerator()
	var block util.Buffer
	build := func() {
		block.Reset()
		for first := 0; first < len(present); first += perFilter {
			last := first + perFilter
			if last > len(present) {
				last = len(present)
			}
			for _, key := range present[first:last] {
				generator.Add(key)
			}
			generator.Generate(&block)
		}
	}
	build()
	if !bytes.Equal(block.Bytes(), bytes.Join(filters, nil)) {
		log.Fatal("goleveldb's filters differ")
	}
	matched := 0
	ask := func(keys [][]byte) func() {
		return func() {
			matched = 0
			for i, key := range keys {
				if policy.Contains(filters[i/perFilter], key) {
					matched++
				}
			}
		}
	}
	fmt.Println(fastest(rounds, len(present), build))
	fmt.Println(fastest(rounds, len(present), ask(present)), matched)
	fmt.Println(fastest(rounds, len(absent), ask(absent)), matched)
}

func fastest(rounds, operations int, work func()) float64 {
	var times []float64
	for i := 0; i < rounds; i++ {
		start := time.Now()
		work()
		times = append(times, float64(time.Since(start).Nanoseconds())/float64(operations))
	}
	sort.Float64s(times)
	return times[len(times)/20]
}

func keys(name string, size int) (keys [][]byte) {
	for rest := read(name); len(rest) > 0; rest = rest[size:] {
		keys = append(keys, rest[:size])
	}
	return keys
}

func read(name string) []byte {
	contents, err := os.ReadFile(name)
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
