// The order of the keys of Chromium's IndexedDB.

#ifndef FILTERBLOCK_INTEROP_IDB_ORDER_H_
#define FILTERBLOCK_INTEROP_IDB_ORDER_H_

#include "leveldb/comparator.h"

namespace shim {

// The comparator that Chromium names "idb_cmp1". Keys that cannot be decoded are equal to all others, as in Chromium.
const leveldb::Comparator* IdbComparator();

}  // namespace shim

#endif  // FILTERBLOCK_INTEROP_IDB_ORDER_H_
