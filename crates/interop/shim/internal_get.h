// The way to Table::InternalGet. To be included by one file for each namespace of LevelDB.

#ifndef FILTERBLOCK_INTEROP_INTERNAL_GET_H_
#define FILTERBLOCK_INTEROP_INTERNAL_GET_H_

#include "leveldb/options.h"
#include "leveldb/table.h"

namespace shim {

// Table::InternalGet is private. Access is not checked in the arguments of an explicit
// instantiation, which is the only way that the language leaves to call it.
using InternalGetFn = leveldb::Status (leveldb::Table::*)(
    const leveldb::ReadOptions&, const leveldb::Slice&, void*,
    void (*)(void*, const leveldb::Slice&, const leveldb::Slice&));
InternalGetFn InternalGet();
template <InternalGetFn function>
struct Reach {
  friend InternalGetFn InternalGet() { return function; }
};
template struct Reach<&leveldb::Table::InternalGet>;

}  // namespace shim

#endif  // FILTERBLOCK_INTEROP_INTERNAL_GET_H_
