// Writes tables by Basho's LevelDB, as Riak has it: see testdata/README.md.
//
// usage: basho KEYS|COUNT TABLE bloom|bloom2
//
// KEYS are internal keys, of which two thirds of the values get a time: types 2 and 3. COUNT is of numbered keys.

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

#include "db/dbformat.h"
#include "entries.h"
#include "leveldb/comparator.h"
#include "leveldb/env.h"
#include "leveldb/filter_policy.h"
#include "leveldb/options.h"
#include "leveldb/table_builder.h"

namespace {

int Fail(const std::string& message) {
  std::cerr << "basho: " << message << "\n";
  return 1;
}

std::string Encode(const leveldb::ParsedInternalKey& key) {
  std::string encoded;
  leveldb::AppendInternalKey(&encoded, key);
  return encoded;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return Fail("expected KEYS|COUNT TABLE bloom|bloom2");
  const std::string filter = argv[3];
  std::unique_ptr<const leveldb::FilterPolicy> policy;
  if (filter == "bloom") policy.reset(leveldb::NewBloomFilterPolicy(16));
  if (filter == "bloom2") policy.reset(leveldb::NewBloomFilterPolicy2(16));
  if (!policy) return Fail("expected bloom or bloom2, found " + filter);

  const leveldb::InternalFilterPolicy of_user_keys(policy.get());
  const leveldb::InternalKeyComparator comparator(leveldb::BytewiseComparator());
  leveldb::Options options;
  options.block_size = 1024;
  options.comparator = &comparator;
  options.compression = leveldb::kLZ4Compression;
  options.filter_policy = &of_user_keys;

  leveldb::WritableFile* opened = nullptr;
  leveldb::Status status = leveldb::Env::Default()->NewWritableFile(argv[2], &opened, 1 << 20);
  if (!status.ok()) return Fail(status.ToString());
  std::unique_ptr<leveldb::WritableFile> file(opened);
  leveldb::TableBuilder builder(options, file.get());
  if (const long count = std::atol(argv[1])) {
    for (long i = 0; i < count; i++) {
      char user_key[16];
      std::snprintf(user_key, sizeof user_key, "key%05ld", i);
      builder.Add(Encode({user_key, 0, static_cast<uint64_t>(i), leveldb::kTypeValue}), "");
    }
  } else {
    long number = 0;
    const auto add = [&](const std::string& key, size_t length) {
      leveldb::ParsedInternalKey parsed;
      leveldb::ParseInternalKey(key, &parsed);
      const long kind = number % 3;
      if (parsed.type == leveldb::kTypeValue && kind != 0) {
        parsed.type = kind == 1 ? leveldb::kTypeValueWriteTime : leveldb::kTypeValueExplicitExpiry;
        parsed.expiry = 1700000000000000 + number;
      }
      number++;
      builder.Add(Encode(parsed), ValueOf(parsed.user_key.ToString(), length));
    };
    if (!ForEachEntry(argv[1], add)) return Fail("cannot read the keys");
  }
  status = builder.Finish();
  if (status.ok()) status = file->Close();
  return status.ok() ? 0 : Fail(status.ToString());
}
