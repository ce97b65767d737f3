// Loops over LevelDB's functions, so that their timing does not include the calls across the
// language border.

#include <memory>

#include "abi.h"
#include "internals.h"
#include "leveldb/env.h"
#include "leveldb/iterator.h"
#include "leveldb/options.h"
#include "leveldb/table.h"
#include "support.h"

namespace {

using leveldb::Slice;
using leveldb::Status;

// A policy over whole keys, or over internal keys.
class Policy {
 public:
  Policy(int bits_per_key, bool internal_keys)
      : bloom_(leveldb::NewBloomFilterPolicy(bits_per_key)), internal_(bloom_.get()) {
    policy = bloom_.get();
    if (internal_keys) policy = &internal_;
  }
  const leveldb::FilterPolicy* policy;

 private:
  const std::unique_ptr<const leveldb::FilterPolicy> bloom_;
  const leveldb::InternalFilterPolicy internal_;
};

// A file in memory. Like a mapped file, it is read without copying.
class MemoryFile : public leveldb::RandomAccessFile {
 public:
  explicit MemoryFile(fb_bytes contents) : contents_(contents) {}
  Status Read(uint64_t offset, size_t n, Slice* result, char*) const override {
    if (offset > contents_.size || n > contents_.size - offset) {
      return Status::IOError("read outside the file");
    }
    *result = Slice(contents_.data + offset, n);
    return Status::OK();
  }

 private:
  const fb_bytes contents_;
};

uint8_t Walk(leveldb::RandomAccessFile* file, uint64_t size, uint64_t times, uint64_t* bytes,
             const fb_sink& error) {
  leveldb::Options options;
  leveldb::ReadOptions read_options;
  read_options.verify_checksums = true;
  leveldb::Table* opened = nullptr;
  const Status status = leveldb::Table::Open(options, file, size, &opened);
  if (!shim::Check(status, error)) return 0;
  const std::unique_ptr<leveldb::Table> owner(opened);
  for (uint64_t i = 0; i < times; i++) {
    const std::unique_ptr<leveldb::Iterator> it(owner->NewIterator(read_options));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      *bytes += it->key().size() + it->value().size();
    }
    if (!shim::Check(it->status(), error)) return 0;
  }
  return 1;
}

}  // namespace

extern "C" {

void fb_speed_build(const fb_speed_policy* from, const fb_bytes* keys, size_t count,
                    size_t per_filter, fb_sink block) {
  const Policy policy(from->bits_per_key, from->internal_keys);
  leveldb::FilterBlockBuilder builder(policy.policy);
  uint64_t offset = 0;
  for (size_t i = 0; i < count;) {
    builder.StartBlock(offset);
    offset += 2048;
    for (size_t j = 0; j < per_filter && i < count; j++, i++) {
      builder.AddKey(shim::ToSlice(keys[i]));
    }
  }
  shim::Append(block, builder.Finish());
}

void fb_speed_ask(const fb_speed_policy* from, fb_bytes block, const fb_speed_query* queries,
                  size_t count, uint8_t* answers) {
  const Policy policy(from->bits_per_key, from->internal_keys);
  leveldb::FilterBlockReader reader(policy.policy, shim::ToSlice(block));
  for (size_t i = 0; i < count; i++) {
    answers[i] = reader.KeyMayMatch(queries[i].offset, shim::ToSlice(queries[i].key));
  }
}

void fb_speed_ask_tables(const fb_speed_policy* from, const fb_bytes* blocks, size_t tables,
                         const fb_speed_query* queries, size_t count, uint8_t* answers) {
  const Policy policy(from->bits_per_key, from->internal_keys);
  std::vector<leveldb::FilterBlockReader> readers;
  for (size_t i = 0; i < tables; i++) {
    readers.emplace_back(policy.policy, shim::ToSlice(blocks[i]));
  }
  for (size_t i = 0; i < count; i++) {
    uint8_t tables_left = 0;
    for (leveldb::FilterBlockReader& reader : readers) {
      tables_left += reader.KeyMayMatch(queries[i].offset, shim::ToSlice(queries[i].key));
    }
    answers[i] = tables_left;
  }
}

uint8_t fb_speed_walk(fb_bytes table, uint64_t times, uint64_t* bytes, fb_sink error) {
  MemoryFile file(table);
  return Walk(&file, table.size, times, bytes, error);
}

uint8_t fb_speed_walk_file(const char* path, uint64_t* bytes, fb_sink error) {
  leveldb::Env* env = leveldb::Env::Default();
  uint64_t size = 0;
  leveldb::RandomAccessFile* file = nullptr;
  if (!shim::Check(env->GetFileSize(path, &size), error)) return 0;
  if (!shim::Check(env->NewRandomAccessFile(path, &file), error)) return 0;
  const std::unique_ptr<leveldb::RandomAccessFile> owner(file);
  return Walk(file, size, 1, bytes, error);
}

}  // extern "C"
