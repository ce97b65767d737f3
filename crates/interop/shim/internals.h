// Classes of LevelDB 1.23 that its library contains and its public headers do not declare. Only the
// parts that the linker and the layout of objects need: the members must stay as they are in
// libleveldb.a.

#ifndef FILTERBLOCK_INTEROP_INTERNALS_H_
#define FILTERBLOCK_INTEROP_INTERNALS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "leveldb/comparator.h"
#include "leveldb/db.h"
#include "leveldb/filter_policy.h"
#include "leveldb/slice.h"

namespace leveldb {

static_assert(kMajorVersion == 1 && kMinorVersion == 23,
              "compare the declarations below with this version's sources");

uint32_t Hash(const char* data, size_t n, uint32_t seed);

// The class that DB::Open makes. Only for calls through a pointer: the members are not declared.
class DBImpl : public DB {
 public:
  // Compacts the tables of a level that overlap a range into the next level, and waits for it.
  void TEST_CompactRange(int level, const Slice* begin, const Slice* end);
};

class FilterBlockBuilder {
 public:
  explicit FilterBlockBuilder(const FilterPolicy*);
  void StartBlock(uint64_t block_offset);
  void AddKey(const Slice& key);
  Slice Finish();

 private:
  const FilterPolicy* policy_;
  std::string keys_;
  std::vector<size_t> start_;
  std::string result_;
  std::vector<Slice> tmp_keys_;
  std::vector<uint32_t> filter_offsets_;
};

class FilterBlockReader {
 public:
  FilterBlockReader(const FilterPolicy* policy, const Slice& contents);
  bool KeyMayMatch(uint64_t block_offset, const Slice& key);

 private:
  const FilterPolicy* policy_;
  const char* data_;
  const char* offset_;
  size_t num_;
  size_t base_lg_;
};

// Orders user keys ascending, then sequence numbers descending.
class InternalKeyComparator : public Comparator {
 public:
  explicit InternalKeyComparator(const Comparator* user) : user_comparator_(user) {}
  const char* Name() const override;
  int Compare(const Slice& a, const Slice& b) const override;
  void FindShortestSeparator(std::string* start, const Slice& limit) const override;
  void FindShortSuccessor(std::string* key) const override;

 private:
  const Comparator* user_comparator_;
};

// An internal key, undecoded. DebugString decodes it, and says so if it cannot be decoded.
class InternalKey {
 public:
  void DecodeFrom(const Slice& key) { rep_.assign(key.data(), key.size()); }
  std::string DebugString() const;

 private:
  std::string rep_;
};

// A policy whose filters hold the user keys of internal keys.
class InternalFilterPolicy : public FilterPolicy {
 public:
  explicit InternalFilterPolicy(const FilterPolicy* user) : user_policy_(user) {}
  const char* Name() const override;
  void CreateFilter(const Slice* keys, int n, std::string* dst) const override;
  bool KeyMayMatch(const Slice& key, const Slice& filter) const override;

 private:
  const FilterPolicy* const user_policy_;
};

}  // namespace leveldb

#endif  // FILTERBLOCK_INTEROP_INTERNALS_H_
