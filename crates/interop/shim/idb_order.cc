// A key is a prefix, which has the ids of database, object store and index, and fields that depend on the ids. This
// file is written from the description of the format, not from the library that it judges.

#include "idb_order.h"

#include <cstdint>
#include <cstring>
#include <string>

#include "leveldb/slice.h"

namespace {

using leveldb::Slice;

struct Undecodable {};

template <typename T>
int Sign(T a, T b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

// Takes fields from the front of a key.
class Reader {
 public:
  explicit Reader(const Slice& key) : rest_(key) {}

  const Slice& rest() const { return rest_; }

  Slice Bytes(uint64_t count) {
    if (count > rest_.size()) throw Undecodable();
    const Slice bytes(rest_.data(), static_cast<size_t>(count));
    rest_.remove_prefix(bytes.size());
    return bytes;
  }
  uint8_t Byte() { return static_cast<uint8_t>(Bytes(1)[0]); }
  uint64_t LittleEndian(unsigned width) {
    const Slice bytes = Bytes(width);
    uint64_t number = 0;
    for (unsigned i = width; i-- > 0;) number = number << 8 | static_cast<uint8_t>(bytes[i]);
    return number;
  }
  int64_t Varint() {
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const uint8_t byte = Byte();
      number |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return static_cast<int64_t>(number);
    }
    throw Undecodable();
  }
  double Double() {
    const uint64_t bits = LittleEndian(8);
    double number;
    std::memcpy(&number, &bits, sizeof(number));
    return number;
  }
  // Big-endian UTF-16, with the number of its units before it.
  Slice String() { return Bytes(2 * static_cast<uint64_t>(Varint())); }
  Slice Binary() { return Bytes(static_cast<uint64_t>(Varint())); }

 private:
  Slice rest_;
};

// The place of each type among the keys of an index.
int Rank(uint8_t type) {
  static const uint8_t kAscending[] = {5, 3, 2, 1, 6, 4, 0};
  for (int rank = 0; rank < 7; rank++) {
    if (kAscending[rank] == type) return rank;
  }
  throw Undecodable();
}

int CompareIdbKeys(Reader& a, Reader& b) {
  const uint8_t type = a.Byte();
  if (const int order = Sign(Rank(type), Rank(b.Byte()))) return order;
  switch (type) {
    case 1: {
      const Slice left = a.String();
      return left.compare(b.String());
    }
    case 2:
    case 3: {
      const double left = a.Double();
      return Sign(left, b.Double());
    }
    case 4: {
      const int64_t left = a.Varint(), right = b.Varint();
      for (int64_t i = 0; i < left && i < right; i++) {
        if (const int order = CompareIdbKeys(a, b)) return order;
      }
      return Sign(left, right);
    }
    case 6: {
      const Slice left = a.Binary();
      return left.compare(b.Binary());
    }
    default:
      return 0;
  }
}

int CompareVarints(Reader& a, Reader& b) {
  const int64_t left = a.Varint();
  return Sign(left, b.Varint());
}

int CompareStrings(Reader& a, Reader& b) {
  const Slice left = a.String();
  return left.compare(b.String());
}

int CompareBytes(Reader& a, Reader& b) {
  const uint8_t left = a.Byte();
  return Sign(left, b.Byte());
}

// Compares keys that belong to no database.
int CompareGlobal(Reader& a, Reader& b) {
  const uint8_t type = a.Byte();
  if (const int order = Sign(type, b.Byte())) return order;
  if (type < 7) return 0;
  switch (type) {
    case 50:
      return a.rest().compare(b.rest());
    case 100:
      return CompareVarints(a, b);
    case 201: {
      const int order = CompareStrings(a, b);
      return order ? order : CompareStrings(a, b);
    }
  }
  throw Undecodable();
}

// Compares keys that belong to a database, but to no object store.
int CompareOfDatabase(Reader& a, Reader& b) {
  const uint8_t type = a.Byte();
  if (const int order = Sign(type, b.Byte())) return order;
  if (type < 6) return 0;
  int order;
  switch (type) {
    case 50:
      order = CompareVarints(a, b);
      return order ? order : CompareBytes(a, b);
    case 100:
      order = CompareVarints(a, b);
      if (order == 0) order = CompareVarints(a, b);
      return order ? order : CompareBytes(a, b);
    case 150:
      return CompareVarints(a, b);
    case 151:
      order = CompareVarints(a, b);
      return order ? order : CompareVarints(a, b);
    case 200:
      return CompareStrings(a, b);
    case 201:
      order = CompareVarints(a, b);
      return order ? order : CompareStrings(a, b);
  }
  throw Undecodable();
}

int CompareOfIndex(Reader& a, Reader& b) {
  if (const int order = CompareIdbKeys(a, b)) return order;
  const int64_t left = a.rest().empty() ? -1 : a.Varint(), right = b.rest().empty() ? -1 : b.Varint();
  if (a.rest().empty() || b.rest().empty()) return Sign(a.rest().size(), b.rest().size());
  const int order = CompareIdbKeys(a, b);
  return order ? order : Sign(left, right);
}

int CompareKeys(Reader& a, Reader& b) {
  // The widths of the three ids, less one, in 3, 3 and 2 bits.
  const uint8_t widths = a.Byte(), others = b.Byte();
  const unsigned shifts[] = {5, 2, 0}, masks[] = {7, 7, 3};
  uint64_t ids[3];
  int order = 0;
  for (int i = 0; i < 3; i++) {
    ids[i] = a.LittleEndian((widths >> shifts[i] & masks[i]) + 1);
    const uint64_t other = b.LittleEndian((others >> shifts[i] & masks[i]) + 1);
    if (order == 0) order = Sign(ids[i], other);
  }
  if (order) return order;
  if (ids[0] == 0) return CompareGlobal(a, b);
  if (ids[1] == 0) return CompareOfDatabase(a, b);
  if (ids[2] >= 30) return CompareOfIndex(a, b);
  if (ids[2] < 1 || ids[2] > 3) throw Undecodable();
  if (a.rest().empty() || b.rest().empty()) return Sign(a.rest().size(), b.rest().size());
  return CompareIdbKeys(a, b);
}

class Comparator : public leveldb::Comparator {
 public:
  int Compare(const Slice& a, const Slice& b) const override {
    Reader left(a), right(b);
    try {
      return CompareKeys(left, right);
    } catch (const Undecodable&) {
      return 0;
    }
  }
  const char* Name() const override { return "idb_cmp1"; }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

}  // namespace

const leveldb::Comparator* shim::IdbComparator() {
  static const Comparator comparator;
  return &comparator;
}
