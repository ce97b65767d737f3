// Databases through LevelDB's C++ interface, with what leveldb/c.h does not offer: filter policies
// under other names and with the old hash, a comparator to which different bytes are equal, and
// counts of what was asked of filters and of files.

#include "rebuild.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "leveldb/cache.h"
#include "leveldb/comparator.h"
#include "leveldb/db.h"
#include "leveldb/env.h"
#include "leveldb/filter_policy.h"
#include "leveldb/iterator.h"
#include "leveldb/options.h"
#include "leveldb/write_batch.h"
#include "counting_env.h"
#include "idb_order.h"
#include "internals.h"
#include "support.h"

namespace {

using leveldb::FilterPolicy;
using leveldb::Slice;
using leveldb::Status;

// LevelDB's Bloom filter under another name.
class RenamedPolicy : public FilterPolicy {
 public:
  RenamedPolicy(const char* name, int bits_per_key)
      : name_(name), policy_(leveldb::NewBloomFilterPolicy(bits_per_key)) {}

  const char* Name() const override { return name_; }
  void CreateFilter(const Slice* keys, int n, std::string* dst) const override {
    policy_->CreateFilter(keys, n, dst);
  }
  bool KeyMayMatch(const Slice& key, const Slice& filter) const override {
    return policy_->KeyMayMatch(key, filter);
  }

 private:
  const char* const name_;
  const std::unique_ptr<const FilterPolicy> policy_;
};

// util/hash.cc of LevelDB 1.17 on x86: the last one to three bytes are read as signed char.
uint32_t SignedHash(const char* data, size_t n, uint32_t seed) {
  const uint32_t m = 0xc6a4a793;
  const auto byte = [](char c) {
    return static_cast<uint32_t>(static_cast<int32_t>(static_cast<signed char>(c)));
  };
  const char* limit = data + n;
  uint32_t h = seed ^ (static_cast<uint32_t>(n) * m);
  for (; data + 4 <= limit; data += 4) {
    uint32_t word;
    std::memcpy(&word, data, sizeof(word));
    h += word;
    h *= m;
    h ^= h >> 16;
  }
  switch (limit - data) {
    case 3:
      h += byte(data[2]) << 16;
      [[fallthrough]];
    case 2:
      h += byte(data[1]) << 8;
      [[fallthrough]];
    case 1:
      h += byte(data[0]);
      h *= m;
      h ^= h >> 24;
  }
  return h;
}

// util/bloom.cc of LevelDB 1.17 on x86.
class SignedPolicy : public FilterPolicy {
 public:
  explicit SignedPolicy(int bits_per_key)
      : bits_per_key_(bits_per_key),
        k_(static_cast<size_t>(std::clamp(static_cast<int>(bits_per_key * 0.69), 1, 30))) {}

  const char* Name() const override { return "leveldb.BuiltinBloomFilter"; }

  void CreateFilter(const Slice* keys, int n, std::string* dst) const override {
    const size_t wanted = static_cast<size_t>(n) * static_cast<size_t>(bits_per_key_);
    const size_t bytes = (std::max<size_t>(wanted, 64) + 7) / 8;
    const size_t start = dst->size();
    dst->resize(start + bytes, 0);
    dst->push_back(static_cast<char>(k_));
    for (int i = 0; i < n; i++) {
      Probe(keys[i], k_, bytes * 8, [&](size_t bit) {
        (*dst)[start + bit / 8] |= static_cast<char>(1 << (bit % 8));
        return true;
      });
    }
  }

  bool KeyMayMatch(const Slice& key, const Slice& filter) const override {
    if (filter.size() < 2) return false;
    const size_t k = static_cast<unsigned char>(filter[filter.size() - 1]);
    if (k > 30) return true;
    return Probe(key, k, (filter.size() - 1) * 8,
                 [&](size_t bit) { return (filter[bit / 8] >> (bit % 8) & 1) != 0; });
  }

 private:
  // Passes the positions of a key's bits to `take` until it returns false.
  template <typename F>
  static bool Probe(const Slice& key, size_t k, size_t bits, F take) {
    uint32_t h = SignedHash(key.data(), key.size(), 0xbc9f1d34);
    const uint32_t delta = (h >> 17) | (h << 15);
    for (size_t j = 0; j < k; j++, h += delta) {
      if (!take(h % bits)) return false;
    }
    return true;
  }

  const int bits_per_key_;
  const size_t k_;
};

// The caller's policy.
class ForeignPolicy : public FilterPolicy {
 public:
  explicit ForeignPolicy(const fb_policy* policy) : policy_(policy) {}

  const char* Name() const override { return policy_->name; }
  void CreateFilter(const Slice* keys, int n, std::string* dst) const override {
    std::vector<const char*> pointers;
    std::vector<size_t> sizes;
    for (int i = 0; i < n; i++) {
      pointers.push_back(keys[i].data());
      sizes.push_back(keys[i].size());
    }
    const auto append = [](void* to, fb_bytes piece) {
      static_cast<std::string*>(to)->append(piece.data, piece.size);
    };
    policy_->create(policy_->context, pointers.data(), sizes.data(), sizes.size(), {dst, append});
  }
  bool KeyMayMatch(const Slice& key, const Slice& filter) const override {
    return policy_->match(policy_->context, shim::ToBytes(key), shim::ToBytes(filter)) != 0;
  }

 private:
  const fb_policy* const policy_;
};

class ReversedComparator : public leveldb::Comparator {
 public:
  int Compare(const Slice& a, const Slice& b) const override { return b.compare(a); }
  const char* Name() const override { return "filterblock.testdata.Reversed"; }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

class IgnoringCaseComparator : public leveldb::Comparator {
 public:
  int Compare(const Slice& a, const Slice& b) const override {
    const size_t both = std::min(a.size(), b.size());
    for (size_t i = 0; i < both; i++) {
      const int difference = Fold(a[i]) - Fold(b[i]);
      if (difference != 0) return difference;
    }
    return a.size() == b.size() ? 0 : a.size() < b.size() ? -1 : 1;
  }
  const char* Name() const override { return "filterblock.testdata.IgnoringCase"; }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}

 private:
  static int Fold(char c) {
    return 'A' <= c && c <= 'Z' ? c - 'A' + 'a' : static_cast<unsigned char>(c);
  }
};

std::unique_ptr<const FilterPolicy> NewPolicy(const fb_store_options& from) {
  switch (from.filter) {
    case 1:
      return std::unique_ptr<const FilterPolicy>(leveldb::NewBloomFilterPolicy(from.bits_per_key));
    case 2:
      return std::make_unique<RenamedPolicy>("leveldb.BuiltinBloomFilter", from.bits_per_key);
    case 3:
      return std::make_unique<SignedPolicy>(from.bits_per_key);
    case 4:
      return std::make_unique<ForeignPolicy>(from.policy);
    default:
      return nullptr;
  }
}

// Counts what is asked of a policy, and the filters it makes.
class Counter : public shim::CountingPolicy {
 public:
  using CountingPolicy::CountingPolicy;
  void CreateFilter(const Slice* keys, int n, std::string* dst) const override {
    created++;
    CountingPolicy::CreateFilter(keys, n, dst);
  }
  mutable std::atomic<uint64_t> created{0};
};

const leveldb::Comparator* ComparatorOf(int32_t order) {
  static const ReversedComparator reversed;
  static const IgnoringCaseComparator ignoring_case;
  switch (order) {
    case 1:
      return &reversed;
    case 2:
      return &ignoring_case;
    case 3:
      return shim::IdbComparator();
    default:
      return leveldb::BytewiseComparator();
  }
}

enum WriteOp : uint8_t { kPut, kDelete };

}  // namespace

extern "C" {

struct fb_store {
  explicit fb_store(const fb_store_options& from)
      : env(from.hold_background), policy(NewPolicy(from)) {
    options.create_if_missing = !from.must_exist;
    options.write_buffer_size = from.write_buffer_size;
    options.max_file_size = from.max_file_size;
    options.block_size = from.block_size;
    options.compression = static_cast<leveldb::CompressionType>(from.compression);
    options.paranoid_checks = from.paranoid_checks;
    options.comparator = ComparatorOf(from.order);
    if (from.max_open_files > 0) options.max_open_files = from.max_open_files;
    options.env = &env;
    if (from.without_block_cache) {
      cache.reset(leveldb::NewLRUCache(0));
      options.block_cache = cache.get();
    }
    if (policy) {
      counter = std::make_unique<Counter>(policy.get());
      options.filter_policy = counter.get();
    }
    read.verify_checksums = true;
    read.fill_cache = !from.without_block_cache;
  }
  ~fb_store() {
    for (const leveldb::Snapshot* snapshot : snapshots) db->ReleaseSnapshot(snapshot);
    const auto releaser = env.ReleaseSoon();
    db.reset();
  }
  fb_store(const fb_store&) = delete;
  fb_store& operator=(const fb_store&) = delete;

  // The members are destroyed in reverse order: the database before everything that it uses.
  shim::CountingEnv env;
  const std::unique_ptr<const FilterPolicy> policy;
  std::unique_ptr<Counter> counter;
  std::unique_ptr<leveldb::Cache> cache;
  leveldb::Options options;
  leveldb::ReadOptions read;
  std::vector<const leveldb::Snapshot*> snapshots;
  std::unique_ptr<leveldb::DB> db;
};

fb_store* fb_store_open(const char* path, const fb_store_options* options, fb_sink error) {
  auto result = std::make_unique<fb_store>(*options);
  leveldb::DB* db = nullptr;
  const Status status = leveldb::DB::Open(result->options, path, &db);
  result->db.reset(db);
  return shim::Check(status, error) ? result.release() : nullptr;
}

uint8_t fb_store_write(fb_store* store, fb_bytes bytes, fb_sink error) {
  leveldb::WriteBatch batch;
  for (shim::Script script(bytes); !script.done();) {
    const auto op = script.Take<uint8_t>();
    const Slice key = script.TakeBytes();
    if (op == kPut) {
      batch.Put(key, script.TakeBytes());
    } else {
      batch.Delete(key);
    }
  }
  return shim::Check(store->db->Write(leveldb::WriteOptions(), &batch), error);
}

uint8_t fb_store_get(fb_store* store, fb_bytes key, fb_sink found, fb_sink error) {
  std::string value;
  const Status status = store->db->Get(store->read, shim::ToSlice(key), &value);
  if (status.IsNotFound()) return 1;
  if (status.ok()) shim::Append(found, value);
  return shim::Check(status, error);
}

uint8_t fb_store_scan(fb_store* store, fb_entries entries, fb_sink error) {
  const std::unique_ptr<leveldb::Iterator> it(store->db->NewIterator(store->read));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    if (!entries.entry(entries.context, shim::ToBytes(it->key()), shim::ToBytes(it->value()))) break;
  }
  return shim::Check(it->status(), error);
}

void fb_store_compact(fb_store* store, const fb_bytes* start, const fb_bytes* limit) {
  const Slice from = start ? shim::ToSlice(*start) : Slice();
  const Slice to = limit ? shim::ToSlice(*limit) : Slice();
  store->db->CompactRange(start ? &from : nullptr, limit ? &to : nullptr);
}

void fb_store_compact_level(fb_store* store, int32_t level, const fb_bytes* start,
                            const fb_bytes* limit) {
  const Slice from = start ? shim::ToSlice(*start) : Slice();
  const Slice to = limit ? shim::ToSlice(*limit) : Slice();
  // DB::Open makes a DBImpl.
  static_cast<leveldb::DBImpl*>(store->db.get())
      ->TEST_CompactRange(level, start ? &from : nullptr, limit ? &to : nullptr);
}

uint8_t fb_store_property(fb_store* store, const char* name, fb_sink value) {
  std::string text;
  const bool known = store->db->GetProperty(name, &text);
  if (known) shim::Append(value, text);
  return known;
}

void fb_store_hold_snapshot(fb_store* store) {
  store->snapshots.push_back(store->db->GetSnapshot());
}

void fb_store_counts_of(const fb_store* store, fb_store_counts* counts) {
  *counts = {};
  counts->reads = store->env.reads();
  counts->read_bytes = store->env.read_bytes();
  counts->opened = store->env.opened();
  if (store->counter) {
    counts->created = store->counter->created;
    counts->asked = store->counter->asked();
    counts->denied = store->counter->denied();
  }
}

void fb_store_table_reads(const fb_store* store, fb_sink numbers) {
  for (const auto& [table, reads] : store->env.ReadsByFile()) {
    const uint64_t pair[2] = {table, reads};
    shim::Append(numbers, Slice(reinterpret_cast<const char*>(pair), sizeof(pair)));
  }
}

void fb_store_close(fb_store* store) { delete store; }

uint8_t fb_store_repair(const char* path, const fb_store_options* options, fb_sink error) {
  const fb_store with(*options);
  return shim::Check(leveldb::RepairDB(path, with.options), error);
}

}  // extern "C"
