// LevelDB's tables, written to a sink and read from a source instead of files.

#include "leveldb/table.h"

#include <memory>

#include "abi.h"
#include "internal_get.h"
#include "internals.h"
#include "leveldb/env.h"
#include "leveldb/iterator.h"
#include "leveldb/options.h"
#include "leveldb/table_builder.h"
#include "support.h"

namespace {

using leveldb::Slice;
using leveldb::Status;

class SinkFile : public leveldb::WritableFile {
 public:
  explicit SinkFile(fb_sink sink) : sink_(sink) {}
  Status Append(const Slice& data) override {
    shim::Append(sink_, data);
    return Status::OK();
  }
  Status Close() override { return Status::OK(); }
  Status Flush() override { return Status::OK(); }
  Status Sync() override { return Status::OK(); }

 private:
  const fb_sink sink_;
};

class SourceFile : public leveldb::RandomAccessFile {
 public:
  SourceFile(fb_source source, uint64_t size) : source_(source), size_(size) {}
  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    // Checked before the other side gets a buffer of that size, which it fills with zeros.
    const bool is_inside = offset <= size_ && n <= size_ - offset;
    if (!is_inside || !source_.read(source_.context, offset, n, scratch)) {
      return Status::IOError("read outside the file");
    }
    *result = Slice(scratch, n);
    return Status::OK();
  }

 private:
  const fb_source source_;
  const uint64_t size_;
};

// Options, and the policies and comparators that they point to.
class Setup {
 public:
  explicit Setup(const fb_table_options& from) : comparator_(leveldb::BytewiseComparator()) {
    options.block_size = from.block_size;
    options.block_restart_interval = from.restart_interval;
    options.compression = static_cast<leveldb::CompressionType>(from.compression);
    options.paranoid_checks = from.verify_checksums;
    if (from.internal_keys) options.comparator = &comparator_;
    if (from.bits_per_key >= 0) {
      bloom_.reset(leveldb::NewBloomFilterPolicy(from.bits_per_key));
      policy = std::make_unique<shim::CountingPolicy>(bloom_.get());
      internal_ = std::make_unique<leveldb::InternalFilterPolicy>(policy.get());
      options.filter_policy = policy.get();
      if (from.internal_keys) options.filter_policy = internal_.get();
    }
  }
  Setup(const Setup&) = delete;
  Setup& operator=(const Setup&) = delete;

  leveldb::Options options;
  std::unique_ptr<shim::CountingPolicy> policy;

 private:
  const leveldb::InternalKeyComparator comparator_;
  std::unique_ptr<const leveldb::FilterPolicy> bloom_;
  std::unique_ptr<const leveldb::FilterPolicy> internal_;
};

void PassOn(void* entries, const Slice& key, const Slice& value) {
  const auto* to = static_cast<const fb_entries*>(entries);
  to->entry(to->context, shim::ToBytes(key), shim::ToBytes(value));
}

}  // namespace

extern "C" {

struct fb_table_builder {
  fb_table_builder(const fb_table_options& options, fb_sink sink)
      : setup(options), file(sink), builder(setup.options, &file) {}

  Setup setup;
  SinkFile file;
  leveldb::TableBuilder builder;
  bool finished = false;
};

fb_table_builder* fb_table_builder_new(const fb_table_options* options, fb_sink file) {
  return new fb_table_builder(*options, file);
}

void fb_table_builder_add(fb_table_builder* builder, fb_bytes entries) {
  for (shim::Script script(entries); !script.done();) {
    const Slice key = script.TakeBytes();
    const Slice value = script.TakeBytes();
    builder->builder.Add(key, value);
  }
}

uint64_t fb_table_builder_file_size(const fb_table_builder* builder) {
  return builder->builder.FileSize();
}

uint8_t fb_table_builder_finish(fb_table_builder* builder, fb_sink error) {
  builder->finished = true;
  return shim::Check(builder->builder.Finish(), error);
}

void fb_table_builder_free(fb_table_builder* builder) {
  if (!builder->finished) builder->builder.Abandon();
  delete builder;
}

struct fb_table {
  fb_table(const fb_table_options& options, fb_source source, uint64_t size)
      : setup(options), file(source, size) {
    read_options.verify_checksums = options.verify_checksums;
  }

  Setup setup;
  SourceFile file;
  leveldb::ReadOptions read_options;
  std::unique_ptr<leveldb::Table> table;
};

fb_table* fb_table_open(const fb_table_options* options, fb_source file, uint64_t file_size,
                        fb_sink error) {
  auto result = std::make_unique<fb_table>(*options, file, file_size);
  leveldb::Table* table = nullptr;
  const Status status =
      leveldb::Table::Open(result->setup.options, &result->file, file_size, &table);
  result->table.reset(table);
  return shim::Check(status, error) ? result.release() : nullptr;
}

uint8_t fb_table_scan(fb_table* table, fb_entries entries, fb_sink error) {
  std::unique_ptr<leveldb::Iterator> it(table->table->NewIterator(table->read_options));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    if (!entries.entry(entries.context, shim::ToBytes(it->key()), shim::ToBytes(it->value()))) {
      break;
    }
  }
  return shim::Check(it->status(), error);
}

uint8_t fb_table_seek(fb_table* table, fb_bytes key, fb_entries found, fb_sink error) {
  std::unique_ptr<leveldb::Iterator> it(table->table->NewIterator(table->read_options));
  it->Seek(shim::ToSlice(key));
  if (it->Valid()) PassOn(&found, it->key(), it->value());
  return shim::Check(it->status(), error);
}

uint8_t fb_table_get(fb_table* table, fb_bytes key, fb_entries found, fb_sink error) {
  const shim::InternalGetFn get = shim::InternalGet();
  const Status status =
      (table->table.get()->*get)(table->read_options, shim::ToSlice(key), &found, &PassOn);
  return shim::Check(status, error);
}

void fb_table_filter_counts(const fb_table* table, uint64_t* asked, uint64_t* denied) {
  const shim::CountingPolicy* policy = table->setup.policy.get();
  *asked = policy ? policy->asked() : 0;
  *denied = policy ? policy->denied() : 0;
}

void fb_table_free(fb_table* table) { delete table; }

}  // extern "C"
