// Writes tables by Mojang's LevelDB, as Minecraft Bedrock has it: see testdata/README.md.
//
// usage: bedrock KEYS TABLE zlib|deflate

#include <iostream>
#include <memory>
#include <string>

#include "entries.h"
#include "leveldb/env.h"
#include "leveldb/filter_policy.h"
#include "leveldb/options.h"
#include "leveldb/table_builder.h"
#include "leveldb/zlib_compressor.h"

namespace {

int Fail(const std::string& message) {
  std::cerr << "bedrock: " << message << "\n";
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return Fail("expected KEYS TABLE zlib|deflate");
  const std::string codec = argv[3];
  std::unique_ptr<leveldb::Compressor> compressor;
  if (codec == "zlib") compressor.reset(new leveldb::ZlibCompressor());
  if (codec == "deflate") compressor.reset(new leveldb::ZlibCompressorRaw());
  if (!compressor) return Fail("expected zlib or deflate, found " + codec);

  std::unique_ptr<const leveldb::FilterPolicy> policy(leveldb::NewBloomFilterPolicy(10));
  leveldb::Options options;
  options.block_size = 1024;
  options.filter_policy = policy.get();
  options.compressors[0] = compressor.get();

  leveldb::WritableFile* opened = nullptr;
  leveldb::Status status = leveldb::Env::Default()->NewWritableFile(argv[2], &opened);
  if (!status.ok()) return Fail(status.ToString());
  std::unique_ptr<leveldb::WritableFile> file(opened);
  leveldb::TableBuilder builder(options, file.get());
  const auto add = [&](const std::string& key, size_t length) { builder.Add(key, ValueOf(key, length)); };
  if (!ForEachEntry(argv[1], add)) return Fail("cannot read the keys");
  status = builder.Finish();
  if (status.ok()) status = file->Close();
  return status.ok() ? 0 : Fail(status.ToString());
}
