#include "host/model_store/files.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <system_error>
#include <vector>

#include "host/model_store/byte_size.h"
#include "host/model_store/sha256.h"
#include "host/platform/paths.h"

namespace glmhost::model_store {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kReserve = 64ull << 20;

}  // namespace

void require_room(const fs::path& folder, std::uint64_t bytes) {
  std::error_code error;
  const fs::space_info space = fs::space(folder, error);
  if (error || space.available >= bytes + kReserve) return;
  throw std::runtime_error("The disk of " + platform::to_utf8(folder) + " has " + byte_size(space.available) +
                           " free, but " + byte_size(bytes) + " and a reserve of " + byte_size(kReserve) +
                           " are needed. Make room, or move the models folder (models_folder in config.toml).");
}

OutputFile::OutputFile(const fs::path& path, bool append)
    : path_(path), stream_(path, std::ios::binary | (append ? std::ios::app : std::ios::trunc)) {
  if (!stream_) {
    throw std::runtime_error("The file " + platform::to_utf8(path_) +
                             " cannot be written: check the permissions of its folder and whether the disk is full or "
                             "read-only.");
  }
}

void OutputFile::write(std::span<const char> bytes) {
  if (!stream_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()))) fail();
}

void OutputFile::close() {
  stream_.close();
  if (!stream_) fail();
}

void OutputFile::fail() const {
  std::error_code error;
  const fs::space_info space = fs::space(path_.parent_path(), error);
  throw std::runtime_error("Writing " + platform::to_utf8(path_) + " failed" +
                           (error ? "." : " with " + byte_size(space.available) + " free on its disk.") +
                           " Make room and pull again: what is there already is used.");
}

void read_file(const fs::path& path, std::string_view step, const PullMonitor& monitor,
               const std::function<void(std::span<const char>)>& on_bytes) {
  std::error_code error;
  const std::uint64_t total = fs::file_size(path, error);
  std::ifstream stream(path, std::ios::binary);
  if (error || !stream) throw std::runtime_error("The file " + platform::to_utf8(path) + " cannot be read.");
  std::vector<char> piece(std::size_t{4} << 20);
  std::uint64_t done = 0;
  while (true) {
    monitor.update({step, done, total});
    stream.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    const auto got = static_cast<std::size_t>(stream.gcount());
    if (got == 0) break;
    on_bytes({piece.data(), got});
    done += got;
  }
  if (stream.bad() || done < total) {
    throw std::runtime_error("Reading " + platform::to_utf8(path) + " failed after " + byte_size(done) + ".");
  }
}

std::string sha256_of(const fs::path& path, const PullMonitor& monitor) {
  Sha256 digest;
  read_file(path, "checking", monitor, [&](std::span<const char> bytes) { digest.update(bytes); });
  return digest.finish();
}

void move_into_place(const fs::path& from, const fs::path& to) {
  flush_to_disk(from);
  std::error_code error;
  fs::rename(from, to, error);
  if (error) {
    throw std::runtime_error("The file " + platform::to_utf8(to) + " cannot be put in place: " + error.message() +
                             ". If a daemon uses the old one, stop it with `glm stop` and pull again.");
  }
  flush_folder(to.parent_path());
}

}  // namespace glmhost::model_store
