// The entries of a set of testdata/tables: see testdata/README.md.

#ifndef FILTERBLOCK_TESTDATA_ENTRIES_H_
#define FILTERBLOCK_TESTDATA_ENTRIES_H_

#include <cstdio>
#include <fstream>
#include <string>

inline std::string FromHex(const std::string& hex) {
  std::string bytes;
  if (hex == "-") return bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

// The key in hexadecimal and a semicolon, repeated and cut.
inline std::string ValueOf(const std::string& key, size_t length) {
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

// Calls add(key, length of the value) for each entry of a file `<set>.keys`. False if it cannot be read.
template <typename Add>
bool ForEachEntry(const std::string& path, Add add) {
  std::ifstream keys(path);
  std::string line;
  while (std::getline(keys, line)) {
    if (line.empty() || line[0] == '#') continue;
    const size_t space = line.find(' ');
    add(FromHex(line.substr(0, space)), std::stoul(line.substr(space + 1)));
  }
  return keys.eof();
}

#endif  // FILTERBLOCK_TESTDATA_ENTRIES_H_
