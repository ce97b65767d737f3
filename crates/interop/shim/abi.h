// The C functions that src/leveldb/ffi/ calls, and the types that both sides share.
//
// Bytes go in as (pointer, size) and come out through callbacks, so that neither side frees what
// the other allocated. Functions that can fail return 0 and pass the message to `error`.

#ifndef FILTERBLOCK_INTEROP_ABI_H_
#define FILTERBLOCK_INTEROP_ABI_H_

#include <cstddef>
#include <cstdint>

extern "C" {

struct fb_bytes {
  const char* data;
  size_t size;
};

// Takes bytes, in one or several pieces.
struct fb_sink {
  void* context;
  void (*append)(void* context, fb_bytes piece);
};

// Gives bytes: fills `to` and returns 1, or returns 0.
struct fb_source {
  void* context;
  uint8_t (*read)(void* context, uint64_t offset, size_t size, char* to);
};

// Takes entries in order until `entry` returns 0.
struct fb_entries {
  void* context;
  uint8_t (*entry)(void* context, fb_bytes key, fb_bytes value);
};

// --- order.cc ---

// Returns a number below zero, zero, or one above zero.
int32_t fb_order_compare(uint8_t internal_keys, fb_bytes a, fb_bytes b);
void fb_order_separator(uint8_t internal_keys, fb_bytes start, fb_bytes limit, fb_sink key);
void fb_order_successor(uint8_t internal_keys, fb_bytes of, fb_sink key);

// --- filter.cc ---

uint32_t fb_hash(fb_bytes data, uint32_t seed);
void fb_bloom_create(int32_t bits_per_key, fb_bytes keys, fb_sink filter);
uint8_t fb_bloom_match(int32_t bits_per_key, fb_bytes key, fb_bytes filter);
// Appends one piece for every finished block.
void fb_filter_blocks_build(fb_bytes script, fb_sink blocks);
// Appends one byte for every query: bit 0 is the answer, bit 1 is set if the policy was asked.
void fb_filter_blocks_query(fb_bytes script, fb_sink answers);

// --- table.cc ---

struct fb_table_options {
  uint64_t block_size;
  int32_t restart_interval;
  int32_t compression;
  int32_t bits_per_key;  // negative: no filter
  uint8_t internal_keys;
  uint8_t verify_checksums;
};

struct fb_table_builder;
fb_table_builder* fb_table_builder_new(const fb_table_options* options, fb_sink file);
void fb_table_builder_add(fb_table_builder* builder, fb_bytes entries);
uint64_t fb_table_builder_file_size(const fb_table_builder* builder);
uint8_t fb_table_builder_finish(fb_table_builder* builder, fb_sink error);
void fb_table_builder_free(fb_table_builder* builder);

struct fb_table;
fb_table* fb_table_open(const fb_table_options* options, fb_source file, uint64_t file_size,
                        fb_sink error);
uint8_t fb_table_scan(fb_table* table, fb_entries entries, fb_sink error);
// The first entry at or after `key`, through an iterator: asks no filter.
uint8_t fb_table_seek(fb_table* table, fb_bytes key, fb_entries found, fb_sink error);
// Looks the key up as a database does, by Table::InternalGet, which asks the filter first.
uint8_t fb_table_get(fb_table* table, fb_bytes key, fb_entries found, fb_sink error);
void fb_table_filter_counts(const fb_table* table, uint64_t* asked, uint64_t* denied);
void fb_table_free(fb_table* table);

// --- speed.cc ---

struct fb_speed_query {
  uint64_t offset;
  fb_bytes key;
};
// Builds a filter block with `per_filter` keys for each 2 KiB of data blocks.
void fb_speed_build(int32_t bits_per_key, const fb_bytes* keys, size_t count, size_t per_filter,
                    fb_sink block);
// Answers every query with one byte.
void fb_speed_ask(int32_t bits_per_key, fb_bytes block, const fb_speed_query* queries, size_t count,
                  uint8_t* answers);

// Writes the table into memory that is there already. Keys are not internal keys.
uint8_t fb_speed_write(const fb_table_options* options, const fb_bytes* keys,
                       const fb_bytes* values, size_t count, char* to, size_t capacity,
                       uint64_t* size, fb_sink error);

// A table in memory that stays where it is.
struct fb_speed_table;
fb_speed_table* fb_speed_table_open(const fb_table_options* options, fb_bytes contents,
                                    fb_sink error);
struct fb_speed_lookup {
  size_t table;
  fb_bytes key;
};
// Looks each key up in its table by Table::InternalGet, and adds up the sizes of the values found.
uint8_t fb_speed_table_get(fb_speed_table* const* tables, const fb_speed_lookup* lookups,
                           size_t count, uint64_t* bytes, fb_sink error);
void fb_speed_table_free(fb_speed_table* table);

// --- database.cc ---

// A filter policy of the caller's. Its functions are called from any thread.
struct fb_policy {
  void* context;
  const char* name;
  void (*create)(void* context, const char* const* keys, const size_t* sizes, size_t count,
                 fb_sink filter);
  uint8_t (*match)(void* context, fb_bytes key, fb_bytes filter);
};

struct fb_db_options {
  uint64_t write_buffer_size;
  uint64_t max_file_size;
  uint64_t block_size;
  // Null: the built-in policy with these bits per key, or none if they are negative.
  // Must stay valid while the database is open.
  const fb_policy* policy;
  int32_t bits_per_key;
  int32_t compression;
  uint8_t reverse_order;
  uint8_t paranoid_checks;
  uint8_t reuse_logs;
};

struct fb_db;
fb_db* fb_db_open(const char* path, const fb_db_options* options, fb_sink error);
uint8_t fb_db_write(fb_db* db, fb_bytes script, fb_sink error);
// Calls `found` if the key is there.
uint8_t fb_db_get(fb_db* db, fb_bytes key, fb_sink found, fb_sink error);
uint8_t fb_db_scan(fb_db* db, fb_entries entries, fb_sink error);
// `start` null: from the beginning. `limit` null: to the end.
void fb_db_compact(fb_db* db, const fb_bytes* start, const fb_bytes* limit);
uint8_t fb_db_property(fb_db* db, const char* name, fb_sink value);
// Holds a snapshot of the present state until the database is closed.
void fb_db_hold_snapshot(fb_db* db);
void fb_db_close(fb_db* db);
uint8_t fb_db_repair(const char* path, const fb_db_options* options, fb_sink error);

// --- walk.cc ---

// An iterator over a table, whose contents are copied, or over a database.
struct fb_walk;
fb_walk* fb_walk_table(fb_bytes contents, uint8_t internal_keys, uint8_t verify, fb_sink error);
fb_walk* fb_walk_database(const char* path, fb_sink error);
void fb_walk_run(fb_walk* walk, fb_bytes steps, uint8_t renew, fb_sink answers);
// Only for an iterator over a table.
uint64_t fb_walk_offset_of(const fb_walk* walk, fb_bytes key);
void fb_walk_free(fb_walk* walk);

}  // extern "C"

#endif  // FILTERBLOCK_INTEROP_ABI_H_
