// Parts that the shim's files share: reading scripts, and policies.

#ifndef FILTERBLOCK_INTEROP_SUPPORT_H_
#define FILTERBLOCK_INTEROP_SUPPORT_H_

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>

#include "abi.h"
#include "leveldb/filter_policy.h"
#include "leveldb/slice.h"
#include "leveldb/status.h"

namespace shim {

inline leveldb::Slice ToSlice(fb_bytes bytes) { return leveldb::Slice(bytes.data, bytes.size); }
inline fb_bytes ToBytes(const leveldb::Slice& slice) { return {slice.data(), slice.size()}; }

inline void Append(const fb_sink& sink, const leveldb::Slice& piece) {
  sink.append(sink.context, ToBytes(piece));
}

inline uint8_t Check(const leveldb::Status& status, const fb_sink& error) {
  if (!status.ok()) Append(error, status.ToString());
  return status.ok();
}

// Many operations in one run of bytes, as src/leveldb/script.rs writes them: integers in the
// machine's byte order, byte strings after a 32-bit length.
class Script {
 public:
  explicit Script(fb_bytes bytes) : at_(bytes.data), end_(bytes.data + bytes.size) {}

  bool done() const { return at_ == end_; }

  template <typename T>
  T Take() {
    T value;
    std::memcpy(&value, at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }

  leveldb::Slice TakeBytes() {
    const size_t size = Take<uint32_t>();
    const leveldb::Slice bytes(at_, size);
    at_ += size;
    return bytes;
  }

 private:
  const char* at_;
  const char* end_;
};

// Forwards everything and counts the calls.
class CountingPolicy : public leveldb::FilterPolicy {
 public:
  explicit CountingPolicy(const leveldb::FilterPolicy* policy) : policy_(policy) {}

  const char* Name() const override { return policy_->Name(); }
  void CreateFilter(const leveldb::Slice* keys, int n, std::string* dst) const override {
    policy_->CreateFilter(keys, n, dst);
  }
  bool KeyMayMatch(const leveldb::Slice& key, const leveldb::Slice& filter) const override {
    const bool answer = policy_->KeyMayMatch(key, filter);
    asked_++;
    if (!answer) denied_++;
    return answer;
  }

  uint64_t asked() const { return asked_; }
  uint64_t denied() const { return denied_; }

 private:
  const leveldb::FilterPolicy* const policy_;
  mutable std::atomic<uint64_t> asked_{0};
  mutable std::atomic<uint64_t> denied_{0};
};

}  // namespace shim

#endif  // FILTERBLOCK_INTEROP_SUPPORT_H_
