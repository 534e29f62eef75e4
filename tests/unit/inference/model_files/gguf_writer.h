// Builds GGUF files in memory, sound ones and, where a test asks for it, broken ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace glmhost::model_files {

using Bytes = std::vector<std::byte>;

// Appends little-endian numbers and GGUF strings.
class ByteString {
 public:
  template <typename Number>
  ByteString& number(Number value) {
    static_assert(std::is_arithmetic_v<Number>);
    const std::size_t at = bytes_.size();
    bytes_.resize(at + sizeof value);
    std::memcpy(bytes_.data() + at, &value, sizeof value);
    return *this;
  }
  ByteString& raw(std::string_view text);
  ByteString& string(std::string_view text) { return number(std::uint64_t{text.size()}).raw(text); }
  ByteString& append(const Bytes& bytes);
  const Bytes& bytes() const { return bytes_; }

 private:
  Bytes bytes_;
};

// GGUF's ids of value types.
enum ValueId : std::uint32_t { kU8, kI8, kU16, kI16, kU32, kI32, kF32, kBool, kString, kArray, kU64, kI64, kF64 };

struct WrittenTensor {
  std::string name;
  std::uint32_t type = 0;
  std::vector<std::uint64_t> ne;
  Bytes data;
  std::int64_t offset = -1;  // negative: placed after the tensor before it
};

class GgufWriter {
 public:
  std::uint32_t version = 3;
  std::string magic = "GGUF";
  std::uint64_t alignment = 32;       // used for the layout; not written as a key
  std::int64_t claimed_tensors = -1;  // negative: the true number
  std::int64_t claimed_entries = -1;

  template <typename Number>
  GgufWriter& number(std::string_view key, ValueId type, Number value) {
    return entry(key, type, ByteString().number(value).bytes());
  }
  GgufWriter& u32(std::string_view key, std::uint32_t value) { return number(key, kU32, value); }
  GgufWriter& text(std::string_view key, std::string_view value) {
    return entry(key, kString, ByteString().string(value).bytes());
  }
  GgufWriter& texts(std::string_view key, const std::vector<std::string>& values);
  template <typename Number>
  GgufWriter& numbers(std::string_view key, ValueId type, const std::vector<Number>& values) {
    ByteString body;
    body.number(std::uint32_t{type}).number(std::uint64_t{values.size()});
    for (const Number value : values) body.number(value);
    return entry(key, kArray, body.bytes());
  }
  GgufWriter& entry(std::string_view key, std::uint32_t type, const Bytes& value);

  GgufWriter& tensor(WrittenTensor tensor);
  GgufWriter& f32_tensor(std::string name, const std::vector<float>& values);  // one dimension

  Bytes header() const;  // without padding and data
  Bytes bytes() const;

 private:
  ByteString entries_;
  std::uint64_t entry_count_ = 0;
  std::vector<WrittenTensor> tensors_;
};

// A small sound model: an architecture, a vocabulary and tensors of several types.
GgufWriter small_model();

// A fresh folder that disappears with the object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path write(const std::filesystem::path& name, const Bytes& bytes) const;
  std::filesystem::path write(const std::filesystem::path& name, std::string_view text) const;

 private:
  std::filesystem::path path_;
};

Bytes read_file(const std::filesystem::path& path);
Bytes to_bytes(std::string_view text);

// "t" and 12 make "t12".
std::string numbered(std::string_view prefix, std::size_t number);

}  // namespace glmhost::model_files
