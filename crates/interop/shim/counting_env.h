// An Env that counts the reads from tables and can hold back work in the background.

#ifndef FILTERBLOCK_INTEROP_COUNTING_ENV_H_
#define FILTERBLOCK_INTEROP_COUNTING_ENV_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "leveldb/env.h"

namespace shim {

// Counts what is read by position, which LevelDB does with tables only.
class CountingEnv : public leveldb::EnvWrapper {
 public:
  explicit CountingEnv(bool hold_background)
      : EnvWrapper(leveldb::Env::Default()), hold_background_(hold_background) {}

  leveldb::Status NewRandomAccessFile(const std::string& name,
                                      leveldb::RandomAccessFile** file) override {
    leveldb::Status status = target()->NewRandomAccessFile(name, file);
    if (!status.ok()) return status;
    opened_++;
    const uint64_t number = std::strtoull(name.c_str() + name.rfind('/') + 1, nullptr, 10);
    const std::lock_guard<std::mutex> lock(mutex_);
    // Nodes of a map stay where they are.
    *file = new File(*file, this, &reads_by_file_[number]);
    return status;
  }

  void Schedule(void (*function)(void*), void* argument) override {
    if (!hold_background_) return target()->Schedule(function, argument);
    const std::lock_guard<std::mutex> lock(mutex_);
    held_.emplace_back(function, argument);
  }

  uint64_t reads() const { return reads_; }
  uint64_t read_bytes() const { return read_bytes_; }
  uint64_t opened() const { return opened_; }

  // The numbers of reads, by the number of the file.
  std::map<uint64_t, uint64_t> ReadsByFile() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return {reads_by_file_.begin(), reads_by_file_.end()};
  }

  // Does the work that was held back, shortly after a database has begun to close: the destructor
  // of the database waits for this work, but compacts nothing any more. Destroying the result waits
  // for the thread, if one was needed.
  std::unique_ptr<std::thread, void (*)(std::thread*)> ReleaseSoon() {
    const auto join = [](std::thread* thread) {
      thread->join();
      delete thread;
    };
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (held_.empty()) return {nullptr, join};
    }
    const auto release = [this] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      std::vector<std::pair<void (*)(void*), void*>> held;
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        held.swap(held_);
      }
      for (const auto& [function, argument] : held) function(argument);
    };
    return {new std::thread(release), join};
  }

 private:
  class File : public leveldb::RandomAccessFile {
   public:
    File(leveldb::RandomAccessFile* file, CountingEnv* env, std::atomic<uint64_t>* reads)
        : file_(file), env_(env), reads_(reads) {}
    leveldb::Status Read(uint64_t offset, size_t n, leveldb::Slice* result,
                         char* scratch) const override {
      (*reads_)++;
      env_->reads_++;
      env_->read_bytes_ += n;
      return file_->Read(offset, n, result, scratch);
    }

   private:
    const std::unique_ptr<leveldb::RandomAccessFile> file_;
    CountingEnv* const env_;
    std::atomic<uint64_t>* const reads_;
  };

  const bool hold_background_;
  std::atomic<uint64_t> reads_{0};
  std::atomic<uint64_t> read_bytes_{0};
  std::atomic<uint64_t> opened_{0};
  mutable std::mutex mutex_;
  std::map<uint64_t, std::atomic<uint64_t>> reads_by_file_;
  std::vector<std::pair<void (*)(void*), void*>> held_;
};

}  // namespace shim

#endif  // FILTERBLOCK_INTEROP_COUNTING_ENV_H_
