// LevelDB's hash, Bloom filters and filter blocks.

#include <map>
#include <memory>
#include <optional>

#include "abi.h"
#include "internals.h"
#include "support.h"

namespace {

using leveldb::FilterPolicy;
using leveldb::Slice;
using shim::Script;

// Policies are made once for each thread, since a script may change them for every block.
const FilterPolicy* Bloom(int bits_per_key) {
  thread_local std::map<int, std::unique_ptr<const FilterPolicy>> policies;
  auto& policy = policies[bits_per_key];
  if (!policy) policy.reset(leveldb::NewBloomFilterPolicy(bits_per_key));
  return policy.get();
}

// The same policies, over the user keys of internal keys.
const FilterPolicy* InternalBloom(int bits_per_key) {
  thread_local std::map<int, std::unique_ptr<const FilterPolicy>> policies;
  auto& policy = policies[bits_per_key];
  if (!policy) policy = std::make_unique<leveldb::InternalFilterPolicy>(Bloom(bits_per_key));
  return policy.get();
}

enum BuildOp : uint8_t { kBuilder, kStartBlock, kAddKey, kFinish, kInternalBuilder };
enum QueryOp : uint8_t { kBlock, kQuery };

}  // namespace

extern "C" {

uint32_t fb_hash(fb_bytes data, uint32_t seed) { return leveldb::Hash(data.data, data.size, seed); }

void fb_bloom_create(int32_t bits_per_key, fb_bytes keys, fb_sink filter) {
  std::vector<Slice> slices;
  for (Script script(keys); !script.done();) slices.push_back(script.TakeBytes());
  std::string result;
  Bloom(bits_per_key)->CreateFilter(slices.data(), static_cast<int>(slices.size()), &result);
  shim::Append(filter, result);
}

uint8_t fb_bloom_match(int32_t bits_per_key, fb_bytes key, fb_bytes filter) {
  return Bloom(bits_per_key)->KeyMayMatch(shim::ToSlice(key), shim::ToSlice(filter));
}

void fb_filter_blocks_build(fb_bytes bytes, fb_sink blocks) {
  std::optional<leveldb::FilterBlockBuilder> builder;
  for (Script script(bytes); !script.done();) {
    switch (script.Take<uint8_t>()) {
      case kBuilder:
        builder.emplace(Bloom(script.Take<int32_t>()));
        break;
      case kInternalBuilder:
        builder.emplace(InternalBloom(script.Take<int32_t>()));
        break;
      case kStartBlock:
        builder->StartBlock(script.Take<uint64_t>());
        break;
      case kAddKey:
        builder->AddKey(script.TakeBytes());
        break;
      case kFinish:
        shim::Append(blocks, builder->Finish());
        break;
    }
  }
}

void fb_filter_blocks_query(fb_bytes bytes, fb_sink answers) {
  std::optional<shim::CountingPolicy> policy;
  std::optional<leveldb::FilterBlockReader> reader;
  std::string result;
  for (Script script(bytes); !script.done();) {
    switch (script.Take<uint8_t>()) {
      case kBlock:
        policy.emplace(Bloom(script.Take<int32_t>()));
        reader.emplace(&*policy, script.TakeBytes());
        break;
      case kQuery: {
        const uint64_t offset = script.Take<uint64_t>();
        const uint64_t before = policy->asked();
        const bool answer = reader->KeyMayMatch(offset, script.TakeBytes());
        const bool asked = policy->asked() != before;
        result.push_back(static_cast<char>(answer | asked << 1));
        break;
      }
    }
  }
  shim::Append(answers, result);
}

}  // extern "C"
