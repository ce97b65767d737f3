// The order of keys, and the shorter keys that an index has in place of longer ones.

#include <string>

#include "abi.h"
#include "internals.h"
#include "support.h"

namespace {

const leveldb::Comparator& Order(uint8_t internal_keys) {
  static const leveldb::InternalKeyComparator internal(leveldb::BytewiseComparator());
  if (internal_keys) return internal;
  return *leveldb::BytewiseComparator();
}

}  // namespace

extern "C" {

int32_t fb_order_compare(uint8_t internal_keys, fb_bytes a, fb_bytes b) {
  const int order = Order(internal_keys).Compare(shim::ToSlice(a), shim::ToSlice(b));
  return (order > 0) - (order < 0);
}

void fb_order_separator(uint8_t internal_keys, fb_bytes start, fb_bytes limit, fb_sink key) {
  std::string result(start.data, start.size);
  Order(internal_keys).FindShortestSeparator(&result, shim::ToSlice(limit));
  shim::Append(key, result);
}

void fb_order_successor(uint8_t internal_keys, fb_bytes of, fb_sink key) {
  std::string result(of.data, of.size);
  Order(internal_keys).FindShortSuccessor(&result);
  shim::Append(key, result);
}

void fb_internal_key_debug_string(fb_bytes key, fb_sink text) {
  leveldb::InternalKey parsed;
  parsed.DecodeFrom(shim::ToSlice(key));
  shim::Append(text, parsed.DebugString());
}

}  // extern "C"
