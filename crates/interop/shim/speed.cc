// Loops over LevelDB's functions, so that their timing does not include the calls across the
// language border.

#include <cstring>
#include <memory>

#include "abi.h"
#include "internal_get.h"
#include "internals.h"
#include "leveldb/env.h"
#include "leveldb/options.h"
#include "leveldb/table.h"
#include "leveldb/table_builder.h"
#include "support.h"

namespace {

using leveldb::Slice;
using leveldb::Status;

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

// A file that is written to memory which is there already.
class BufferFile : public leveldb::WritableFile {
 public:
  BufferFile(char* to, size_t capacity) : to_(to), left_(capacity) {}
  Status Append(const Slice& data) override {
    if (data.size() > left_) return Status::IOError("the table is longer than expected");
    std::memcpy(to_, data.data(), data.size());
    to_ += data.size();
    left_ -= data.size();
    return Status::OK();
  }
  Status Close() override { return Status::OK(); }
  Status Flush() override { return Status::OK(); }
  Status Sync() override { return Status::OK(); }

 private:
  char* to_;
  size_t left_;
};

// Options for plain keys, and the policy that they point to.
struct Setup {
  explicit Setup(const fb_table_options& from) {
    options.block_size = from.block_size;
    options.block_restart_interval = from.restart_interval;
    options.compression = static_cast<leveldb::CompressionType>(from.compression);
    options.paranoid_checks = from.verify_checksums;
    if (from.bits_per_key >= 0) bloom.reset(leveldb::NewBloomFilterPolicy(from.bits_per_key));
    options.filter_policy = bloom.get();
  }

  leveldb::Options options;
  std::unique_ptr<const leveldb::FilterPolicy> bloom;
};

// The setup of the previous table, if that had the same options: a program makes its options once
// for all tables.
std::shared_ptr<const Setup> SharedSetup(const fb_table_options& options) {
  thread_local fb_table_options last;
  thread_local std::shared_ptr<const Setup> setup;
  const bool is_same = setup && last.block_size == options.block_size &&
                       last.restart_interval == options.restart_interval &&
                       last.compression == options.compression &&
                       last.verify_checksums == options.verify_checksums &&
                       last.bits_per_key == options.bits_per_key;
  if (!is_same) {
    setup = std::make_shared<const Setup>(options);
    last = options;
  }
  return setup;
}

// The key that a lookup seeks, and the bytes of the values found. As in a database, an entry that
// Table::InternalGet finds counts only if it has this key.
struct Found {
  Slice key;
  uint64_t bytes;
};
void Keep(void* context, const Slice& key, const Slice& value) {
  auto* found = static_cast<Found*>(context);
  if (key == found->key) found->bytes += value.size();
}

}  // namespace

extern "C" {

void fb_speed_build(int32_t bits_per_key, const fb_bytes* keys, size_t count, size_t per_filter,
                    fb_sink block) {
  const std::unique_ptr<const leveldb::FilterPolicy> bloom(leveldb::NewBloomFilterPolicy(bits_per_key));
  leveldb::FilterBlockBuilder builder(bloom.get());
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

void fb_speed_ask(int32_t bits_per_key, fb_bytes block, const fb_speed_query* queries, size_t count,
                  uint8_t* answers) {
  const std::unique_ptr<const leveldb::FilterPolicy> bloom(leveldb::NewBloomFilterPolicy(bits_per_key));
  leveldb::FilterBlockReader reader(bloom.get(), shim::ToSlice(block));
  for (size_t i = 0; i < count; i++) {
    answers[i] = reader.KeyMayMatch(queries[i].offset, shim::ToSlice(queries[i].key));
  }
}

struct fb_speed_table {
  fb_speed_table(const fb_table_options& options, fb_bytes contents)
      : setup(SharedSetup(options)), file(contents) {
    read_options.verify_checksums = options.verify_checksums;
  }

  std::shared_ptr<const Setup> setup;
  MemoryFile file;
  leveldb::ReadOptions read_options;
  std::unique_ptr<leveldb::Table> table;
};

uint8_t fb_speed_write(const fb_table_options* options, const fb_bytes* keys,
                       const fb_bytes* values, size_t count, char* to, size_t capacity,
                       uint64_t* size, fb_sink error) {
  const Setup setup(*options);
  BufferFile file(to, capacity);
  leveldb::TableBuilder builder(setup.options, &file);
  for (size_t i = 0; i < count; i++) {
    builder.Add(shim::ToSlice(keys[i]), shim::ToSlice(values[i]));
  }
  const Status status = builder.Finish();
  *size = builder.FileSize();
  return shim::Check(status, error);
}

fb_speed_table* fb_speed_table_open(const fb_table_options* options, fb_bytes contents,
                                    fb_sink error) {
  auto result = std::make_unique<fb_speed_table>(*options, contents);
  leveldb::Table* table = nullptr;
  const Status status =
      leveldb::Table::Open(result->setup->options, &result->file, contents.size, &table);
  result->table.reset(table);
  return shim::Check(status, error) ? result.release() : nullptr;
}

uint8_t fb_speed_table_get(fb_speed_table* const* tables, const fb_speed_lookup* lookups,
                           size_t count, uint64_t* bytes, fb_sink error) {
  const shim::InternalGetFn get = shim::InternalGet();
  Found found{Slice(), 0};
  for (size_t i = 0; i < count; i++) {
    const fb_speed_table* table = tables[lookups[i].table];
    found.key = shim::ToSlice(lookups[i].key);
    const Status status = (table->table.get()->*get)(table->read_options, found.key, &found, &Keep);
    if (!status.ok()) return shim::Check(status, error);
  }
  *bytes = found.bytes;
  return 1;
}

void fb_speed_table_free(fb_speed_table* table) { delete table; }

}  // extern "C"
