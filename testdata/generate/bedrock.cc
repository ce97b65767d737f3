// Writes tables by Mojang's LevelDB, as Minecraft Bedrock has it: see testdata/README.md.
//
// usage: bedrock KEYS TABLE zlib|deflate

#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>

#include "leveldb/env.h"
#include "leveldb/filter_policy.h"
#include "leveldb/options.h"
#include "leveldb/table_builder.h"
#include "leveldb/zlib_compressor.h"

namespace {

std::string FromHex(const std::string& hex) {
  std::string bytes;
  if (hex == "-") return bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

// The key in hexadecimal and a semicolon, repeated and cut.
std::string ValueOf(const std::string& key, size_t length) {
  std::string unit;
  for (unsigned char byte : key) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", byte);
    unit += digits;
  }
  unit += ';';
  std::string value;
  while (value.size() < length) value += unit;
  value.resize(length);
  return value;
}

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

  std::ifstream keys(argv[1]);
  leveldb::WritableFile* opened = nullptr;
  leveldb::Status status = leveldb::Env::Default()->NewWritableFile(argv[2], &opened);
  if (!keys || !status.ok()) return Fail("cannot open the files: " + status.ToString());
  std::unique_ptr<leveldb::WritableFile> file(opened);
  leveldb::TableBuilder builder(options, file.get());
  std::string line;
  while (std::getline(keys, line)) {
    if (line.empty() || line[0] == '#') continue;
    const size_t space = line.find(' ');
    const std::string key = FromHex(line.substr(0, space));
    builder.Add(key, ValueOf(key, std::stoul(line.substr(space + 1))));
  }
  status = builder.Finish();
  if (status.ok()) status = file->Close();
  return status.ok() ? 0 : Fail(status.ToString());
}
