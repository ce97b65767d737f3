// The functions of rebuild.cc. Those of the other files are in abi.h.

#ifndef FILTERBLOCK_INTEROP_REBUILD_H_
#define FILTERBLOCK_INTEROP_REBUILD_H_

#include "abi.h"

extern "C" {

struct fb_store_options {
  uint64_t write_buffer_size;
  uint64_t max_file_size;
  uint64_t block_size;
  // A policy of the caller's, used if `filter` is 4. Must stay valid while the store is open.
  const fb_policy* policy;
  // 0: none; 1: LevelDB's own; 2: LevelDB's own under the name it had up to 1.17; 3: that name, and the
  // hash that read bytes as signed char; 4: `policy`.
  int32_t filter;
  int32_t bits_per_key;
  int32_t compression;
  // 0: bytewise; 1: reversed; 2: bytewise, but letters of either case are equal; 3: the order of
  // idb_order.h.
  int32_t order;
  // 0: LevelDB's default.
  int32_t max_open_files;
  uint8_t paranoid_checks;
  // Opens a database only if it is there.
  uint8_t must_exist;
  uint8_t without_block_cache;
  // Holds back what LevelDB would do in the background, compactions above all, until the store is
  // closed. A full memtable is then never written, so that this is for reading.
  uint8_t hold_background;
};

// Counts of what the filter policy made and answered, and of the use of the files of tables.
struct fb_store_counts {
  uint64_t created;
  uint64_t asked;
  uint64_t denied;
  // Reads from tables by position.
  uint64_t reads;
  uint64_t read_bytes;
  // Files of tables that were opened.
  uint64_t opened;
};

struct fb_store;
fb_store* fb_store_open(const char* path, const fb_store_options* options, fb_sink error);
// A script of operations as for fb_db_write.
uint8_t fb_store_write(fb_store* store, fb_bytes script, fb_sink error);
// Calls `found` if the key is there.
uint8_t fb_store_get(fb_store* store, fb_bytes key, fb_sink found, fb_sink error);
uint8_t fb_store_scan(fb_store* store, fb_entries entries, fb_sink error);
// `start` null: from the beginning. `limit` null: to the end.
void fb_store_compact(fb_store* store, const fb_bytes* start, const fb_bytes* limit);
// DBImpl::TEST_CompactRange: the tables of a level that overlap the range go to the next one.
void fb_store_compact_level(fb_store* store, int32_t level, const fb_bytes* start,
                            const fb_bytes* limit);
uint8_t fb_store_property(fb_store* store, const char* name, fb_sink value);
void fb_store_hold_snapshot(fb_store* store);
void fb_store_counts_of(const fb_store* store, fb_store_counts* counts);
// For each table that was opened, its number and the reads from it: pairs of uint64_t.
void fb_store_table_reads(const fb_store* store, fb_sink numbers);
void fb_store_close(fb_store* store);
uint8_t fb_store_repair(const char* path, const fb_store_options* options, fb_sink error);

}  // extern "C"

#endif  // FILTERBLOCK_INTEROP_REBUILD_H_
