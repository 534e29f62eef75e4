// Random access to the bytes of one shard: a file on disk, or bytes in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace glmhost::model_files {

// Thread rules: const members may be called from several threads at once.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // For sentences: the file's name, quoted.
  virtual const std::string& name() const = 0;

  // In bytes, as it was when the source was opened.
  virtual std::uint64_t size() const = 0;

  // Fills out from byte `offset` on. Throws Error(bad_file) when the bytes are not there (any more), Error(io) when the
  // system refuses.
  virtual void read(std::uint64_t offset, std::span<std::byte> out) const = 0;
};

// Opens a regular file for reading in pieces; nothing is mapped. Throws Error(not_found) when nothing is there or it is
// a directory, Error(bad_file) for a pipe, socket or device, Error(io) when the system refuses.
std::unique_ptr<ByteSource> open_file(const std::filesystem::path& path);

std::unique_ptr<ByteSource> bytes_in_memory(std::vector<std::byte> bytes, const std::string& name);

// The sentences that every system's open_file shares.
[[noreturn]] void throw_missing(const std::string& name);
[[noreturn]] void throw_directory(const std::string& name);
[[noreturn]] void throw_not_regular(const std::string& name);
[[noreturn]] void throw_no_permission(const std::string& name);
[[noreturn]] void throw_io(const std::string& name, const std::string& doing, const std::string& reason);
[[noreturn]] void throw_shrunk(const std::string& name, std::uint64_t expected);

}  // namespace glmhost::model_files
