// ZIP archives in memory, as far as workbooks need them: stored and deflated entries, no encryption, no parts on
// several disks. What an archive says of itself is not trusted.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace glmhost::table {

class ZipReader {
 public:
  // Reads the directory. The bytes must outlive the reader. Throws TableError when this is no sound archive.
  explicit ZipReader(std::string_view bytes);

  bool has(std::string_view name) const { return find(name) != nullptr; }

  // Calls take with pieces of the entry until it returns false. Throws TableError for an entry that is not there, is
  // damaged, or grows beyond the limits below.
  void read(std::string_view name, const std::function<bool(std::string_view piece)>& take) const;

  // A part of a workbook is larger than this, or than so many times its packed size, only when it is made to fill
  // memory. Deflate itself ends at 1032 times; sheets of real workbooks stay below 100.
  static constexpr std::uint64_t kMostSize = std::uint64_t{1} << 32;
  static constexpr std::uint64_t kMostGrowth = 400, kSmall = std::uint64_t{16} << 20;

 private:
  struct Entry {
    std::string name;
    std::uint64_t packed = 0, offset = 0;
    std::uint32_t checksum = 0;
    std::uint16_t method = 0, flags = 0;
  };
  const Entry* find(std::string_view name) const;  // case does not count, as for Excel
  std::string_view packed_bytes(const Entry& entry) const;
  std::uint64_t number(std::uint64_t at, int bytes) const;
  void read_directory();

  std::string_view bytes_;
  std::vector<Entry> entries_;
};

// Entries one after the other; each is packed in memory until it is finished.
class ZipWriter {
 public:
  explicit ZipWriter(std::function<void(std::string_view)> write) : write_(std::move(write)) {}

  void begin(std::string name);
  void add(std::string_view bytes);
  void end();
  void finish();  // the directory

 private:
  struct Entry {
    std::string name;
    std::uint64_t offset = 0, packed = 0, size = 0;
    std::uint32_t checksum = 0;
  };
  struct Deflater;
  struct Free {
    void operator()(Deflater* deflater) const;
  };
  void put(const std::string& bytes);

  std::function<void(std::string_view)> write_;
  std::vector<Entry> entries_;
  std::unique_ptr<Deflater, Free> deflater_;
  std::string packed_;
  std::uint64_t at_ = 0;
};

}  // namespace glmhost::table
