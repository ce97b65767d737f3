// Loops over LevelDB's functions, so that their timing does not include the calls across the
// language border.

#include <memory>
#include <vector>

#include "abi.h"
#include "internals.h"
#include "support.h"

namespace {

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

void fb_speed_dry_run(const fb_speed_query* queries, size_t count, uint8_t* answers) {
  for (size_t i = 0; i < count; i++) {
    answers[i] = static_cast<uint8_t>(queries[i].offset) ^ queries[i].key.data[0];
  }
}

}  // extern "C"
