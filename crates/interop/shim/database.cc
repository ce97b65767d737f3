// Whole databases, through LevelDB's own C interface.

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "abi.h"
#include "leveldb/c.h"
#include "leveldb/options.h"
#include "leveldb/slice.h"
#include "support.h"

namespace {

using leveldb::Slice;

// The error of one call into leveldb/c.h.
class Error {
 public:
  ~Error() { leveldb_free(message_); }
  char** out() { return &message_; }
  uint8_t Report(const fb_sink& to) const {
    if (message_ != nullptr) shim::Append(to, message_);
    return message_ == nullptr;
  }

 private:
  char* message_ = nullptr;
};

int CompareReversed(void*, const char* a, size_t a_size, const char* b, size_t b_size) {
  return Slice(b, b_size).compare(Slice(a, a_size));
}
const char* ReversedName(void*) { return "filterblock.testdata.Reversed"; }
void DoNothing(void*) {}

// The filter is returned in memory that leveldb/c.h frees.
char* CreateFilter(void* state, const char* const* keys, const size_t* sizes, int count,
                   size_t* filter_size) {
  const auto* policy = static_cast<const fb_policy*>(state);
  std::string filter;
  const auto append = [](void* to, fb_bytes piece) {
    static_cast<std::string*>(to)->append(piece.data, piece.size);
  };
  policy->create(policy->context, keys, sizes, static_cast<size_t>(count), {&filter, append});
  *filter_size = filter.size();
  char* result = static_cast<char*>(std::malloc(filter.size() + 1));
  std::memcpy(result, filter.data(), filter.size());
  return result;
}
uint8_t KeyMayMatch(void* state, const char* key, size_t key_size, const char* filter,
                    size_t filter_size) {
  const auto* policy = static_cast<const fb_policy*>(state);
  return policy->match(policy->context, {key, key_size}, {filter, filter_size});
}
const char* PolicyName(void* state) { return static_cast<const fb_policy*>(state)->name; }

leveldb_filterpolicy_t* NewPolicy(const fb_db_options& from) {
  if (from.policy != nullptr) {
    auto* state = const_cast<fb_policy*>(from.policy);
    return leveldb_filterpolicy_create(state, DoNothing, CreateFilter, KeyMayMatch, PolicyName);
  }
  return from.bits_per_key < 0 ? nullptr : leveldb_filterpolicy_create_bloom(from.bits_per_key);
}

// leveldb/c.h has no setter for this option. `leveldb_options_t` is a struct of nothing but the options
// (db/c.cc).
void SetReuseLogs(leveldb_options_t* options, bool value) {
  reinterpret_cast<leveldb::Options*>(options)->reuse_logs = value;
}

enum WriteOp : uint8_t { kPut, kDelete };

}  // namespace

extern "C" {

struct fb_db {
  explicit fb_db(const fb_db_options& from) : policy(NewPolicy(from)) {
    leveldb_options_set_create_if_missing(options, 1);
    leveldb_options_set_write_buffer_size(options, from.write_buffer_size);
    leveldb_options_set_max_file_size(options, from.max_file_size);
    leveldb_options_set_block_size(options, from.block_size);
    leveldb_options_set_compression(options, from.compression);
    leveldb_options_set_paranoid_checks(options, from.paranoid_checks);
    SetReuseLogs(options, from.reuse_logs);
    if (from.reverse_order) {
      comparator = leveldb_comparator_create(nullptr, DoNothing, CompareReversed, ReversedName);
      leveldb_options_set_comparator(options, comparator);
    }
    leveldb_options_set_filter_policy(options, policy);
    leveldb_readoptions_set_verify_checksums(read, 1);
  }
  ~fb_db() {
    for (const leveldb_snapshot_t* snapshot : snapshots) leveldb_release_snapshot(db, snapshot);
    if (db != nullptr) leveldb_close(db);
    leveldb_readoptions_destroy(read);
    leveldb_writeoptions_destroy(write);
    leveldb_options_destroy(options);
    if (policy != nullptr) leveldb_filterpolicy_destroy(policy);
    if (comparator != nullptr) leveldb_comparator_destroy(comparator);
  }
  fb_db(const fb_db&) = delete;
  fb_db& operator=(const fb_db&) = delete;

  leveldb_options_t* const options = leveldb_options_create();
  leveldb_readoptions_t* const read = leveldb_readoptions_create();
  leveldb_writeoptions_t* const write = leveldb_writeoptions_create();
  leveldb_filterpolicy_t* const policy;
  leveldb_comparator_t* comparator = nullptr;
  leveldb_t* db = nullptr;
  std::vector<const leveldb_snapshot_t*> snapshots;
};

fb_db* fb_db_open(const char* path, const fb_db_options* options, fb_sink error) {
  auto result = std::make_unique<fb_db>(*options);
  Error failure;
  result->db = leveldb_open(result->options, path, failure.out());
  return failure.Report(error) ? result.release() : nullptr;
}

uint8_t fb_db_write(fb_db* db, fb_bytes bytes, fb_sink error) {
  leveldb_writebatch_t* batch = leveldb_writebatch_create();
  for (shim::Script script(bytes); !script.done();) {
    const auto op = script.Take<uint8_t>();
    const Slice key = script.TakeBytes();
    if (op == kPut) {
      const Slice value = script.TakeBytes();
      leveldb_writebatch_put(batch, key.data(), key.size(), value.data(), value.size());
    } else {
      leveldb_writebatch_delete(batch, key.data(), key.size());
    }
  }
  Error failure;
  leveldb_write(db->db, db->write, batch, failure.out());
  leveldb_writebatch_destroy(batch);
  return failure.Report(error);
}

uint8_t fb_db_get(fb_db* db, fb_bytes key, fb_sink found, fb_sink error) {
  Error failure;
  size_t size = 0;
  char* value = leveldb_get(db->db, db->read, key.data, key.size, &size, failure.out());
  if (value != nullptr) shim::Append(found, Slice(value, size));
  leveldb_free(value);
  return failure.Report(error);
}

uint8_t fb_db_scan(fb_db* db, fb_entries entries, fb_sink error) {
  leveldb_iterator_t* it = leveldb_create_iterator(db->db, db->read);
  for (leveldb_iter_seek_to_first(it); leveldb_iter_valid(it); leveldb_iter_next(it)) {
    fb_bytes key;
    fb_bytes value;
    key.data = leveldb_iter_key(it, &key.size);
    value.data = leveldb_iter_value(it, &value.size);
    if (!entries.entry(entries.context, key, value)) break;
  }
  Error failure;
  leveldb_iter_get_error(it, failure.out());
  leveldb_iter_destroy(it);
  return failure.Report(error);
}

void fb_db_compact(fb_db* db, const fb_bytes* start, const fb_bytes* limit) {
  leveldb_compact_range(db->db, start ? start->data : nullptr, start ? start->size : 0,
                        limit ? limit->data : nullptr, limit ? limit->size : 0);
}

uint8_t fb_db_property(fb_db* db, const char* name, fb_sink value) {
  char* text = leveldb_property_value(db->db, name);
  const bool known = text != nullptr;
  if (known) shim::Append(value, text);
  leveldb_free(text);
  return known;
}

void fb_db_hold_snapshot(fb_db* db) {
  db->snapshots.push_back(leveldb_create_snapshot(db->db));
}

void fb_db_close(fb_db* db) { delete db; }

uint8_t fb_db_repair(const char* path, const fb_db_options* options, fb_sink error) {
  const fb_db with(*options);
  Error failure;
  leveldb_repair_db(with.options, path, failure.out());
  return failure.Report(error);
}

}  // extern "C"
