// LevelDB's iterators, moved about at will: over a table in memory, and over a database.

#include <memory>
#include <string>

#include "abi.h"
#include "internals.h"
#include "leveldb/db.h"
#include "leveldb/env.h"
#include "leveldb/filter_policy.h"
#include "leveldb/iterator.h"
#include "leveldb/options.h"
#include "leveldb/table.h"
#include "support.h"

namespace {

using leveldb::Slice;
using leveldb::Status;

class MemoryFile : public leveldb::RandomAccessFile {
 public:
  explicit MemoryFile(const Slice& contents) : contents_(contents.data(), contents.size()) {}
  Status Read(uint64_t offset, size_t n, Slice* result, char*) const override {
    if (offset > contents_.size() || n > contents_.size() - offset) {
      return Status::IOError("read outside the file");
    }
    *result = Slice(contents_.data() + offset, n);
    return Status::OK();
  }

 private:
  const std::string contents_;
};

enum WalkOp : uint8_t { kNext, kPrev, kFirst, kLast, kSeek };

void AppendBytes(const Slice& bytes, std::string* to) {
  const auto size = static_cast<uint32_t>(bytes.size());
  to->append(reinterpret_cast<const char*>(&size), sizeof(size));
  to->append(bytes.data(), bytes.size());
}

}  // namespace

extern "C" {

struct fb_walk {
  // The members are freed in reverse order.
  std::unique_ptr<MemoryFile> file;
  const leveldb::InternalKeyComparator comparator{leveldb::BytewiseComparator()};
  std::unique_ptr<leveldb::Table> table;
  std::unique_ptr<leveldb::DB> db;
  leveldb::ReadOptions read;
  std::unique_ptr<leveldb::Iterator> it;

  void Renew() { it.reset(table ? table->NewIterator(read) : db->NewIterator(read)); }
};

fb_walk* fb_walk_table(fb_bytes contents, uint8_t internal_keys, uint8_t verify, fb_sink error) {
  auto walk = std::make_unique<fb_walk>();
  walk->file = std::make_unique<MemoryFile>(shim::ToSlice(contents));
  walk->read.verify_checksums = verify;
  leveldb::Options options;
  options.paranoid_checks = verify;
  if (internal_keys) options.comparator = &walk->comparator;
  leveldb::Table* table = nullptr;
  const Status status =
      leveldb::Table::Open(options, walk->file.get(), contents.size, &table);
  walk->table.reset(table);
  if (!shim::Check(status, error)) return nullptr;
  walk->Renew();
  return walk.release();
}

fb_walk* fb_walk_database(const char* path, fb_sink error) {
  auto walk = std::make_unique<fb_walk>();
  walk->read.verify_checksums = true;
  leveldb::DB* db = nullptr;
  const Status status = leveldb::DB::Open(leveldb::Options(), path, &db);
  walk->db.reset(db);
  if (!shim::Check(status, error)) return nullptr;
  walk->Renew();
  return walk.release();
}

void fb_walk_free(fb_walk* walk) { delete walk; }

// One answer for each step of the script: whether the iterator is at an entry, whether its status is
// ok, and the entry. A step from no entry goes nowhere. With `renew` a new iterator makes each move
// to an end or a key, so that the status and the place before do not matter.
void fb_walk_run(fb_walk* walk, fb_bytes steps, uint8_t renew, fb_sink answers) {
  std::string out;
  for (shim::Script script(steps); !script.done();) {
    const auto op = script.Take<uint8_t>();
    if (renew && op != kNext && op != kPrev) walk->Renew();
    leveldb::Iterator* it = walk->it.get();
    switch (op) {
      case kNext:
        if (it->Valid()) it->Next();
        break;
      case kPrev:
        if (it->Valid()) it->Prev();
        break;
      case kFirst:
        it->SeekToFirst();
        break;
      case kLast:
        it->SeekToLast();
        break;
      default:
        it->Seek(script.TakeBytes());
    }
    const bool valid = it->Valid();
    out.push_back(static_cast<char>(valid));
    out.push_back(static_cast<char>(it->status().ok()));
    AppendBytes(valid ? it->key() : Slice(), &out);
    AppendBytes(valid ? it->value() : Slice(), &out);
  }
  shim::Append(answers, out);
}

uint64_t fb_walk_offset_of(const fb_walk* walk, fb_bytes key) {
  return walk->table->ApproximateOffsetOf(shim::ToSlice(key));
}

}  // extern "C"
