// A GGUF v3 (or v2) model file, single or split into shards, opened and checked.
//
// Nothing in the file is trusted: every count, length, offset and size is checked against the file's size with checked
// arithmetic before it is used or allocated for (the list of defences stands in gguf_header.cpp). Tensor data is read
// with pread into the caller's memory, never mapped, so a file that shrinks while open gives Error(bad_file), not
// SIGBUS.
//
// Thread rules: const members may be called from several threads at once.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "inference/model_files/tensor_type.h"

namespace glmhost::model_files {

struct TensorInfo {
  std::string name;
  TensorType type;
  int dimensions;                  // 1..4
  std::array<std::int64_t, 4> ne;  // ne[0] is the contiguous (row) length; unused ones are 1
  std::uint64_t bytes;             // of the whole tensor
  std::uint64_t offset;            // absolute, in its shard's file
  int shard;

  std::int64_t columns() const { return ne[0]; }
  std::int64_t rows() const { return ne[1] * ne[2] * ne[3]; }
};

// A metadata value. Numbers of any stored width are widened; arrays keep their element kind.
using MetadataValue =
    std::variant<std::int64_t, std::uint64_t, double, bool, std::string, std::vector<std::int64_t>,
                 std::vector<std::uint64_t>, std::vector<double>, std::vector<bool>, std::vector<std::string>>;

class GgufFile {
 public:
  // Opens FILE, and for name-00001-of-000NN.gguf all its shards. Throws Error: not_found, io, bad_file, unsupported,
  // out_of_memory; the sentence names the file and what to do (a directory, a text file, a safetensors file, a file cut
  // short and an unknown tensor type are each told apart).
  static GgufFile open(const std::filesystem::path& path);

  // A model in one piece that is already in memory; `name` stands for the path. Throws as open does.
  static GgufFile from_bytes(std::vector<std::byte> bytes, const std::string& name);

  GgufFile(GgufFile&&) noexcept;
  GgufFile& operator=(GgufFile&&) noexcept;
  ~GgufFile();

  const std::filesystem::path& path() const;
  std::uint64_t file_bytes() const;  // of all shards together

  // --- metadata (shard 0). get_* return nothing when the key is absent and throw Error(bad_file) naming the key when
  // the value has the wrong kind or is out of range. Integers are read leniently by value from any integer type.
  const MetadataValue* find(std::string_view key) const;
  std::optional<std::uint64_t> get_unsigned(std::string_view key) const;
  std::optional<double> get_number(std::string_view key) const;
  std::optional<bool> get_bool(std::string_view key) const;
  std::optional<std::string_view> get_string(std::string_view key) const;
  const std::vector<std::string>* get_strings(std::string_view key) const;  // null when absent
  // Lists of truth values read as 0 and 1.
  std::optional<std::vector<std::int64_t>> get_integers(std::string_view key) const;
  std::optional<std::vector<float>> get_floats(std::string_view key) const;
  std::vector<std::string> keys() const;

  std::string architecture() const;  // general.architecture; throws bad_file when absent

  // --- tensors
  std::span<const TensorInfo> tensors() const;
  const TensorInfo* find_tensor(std::string_view name) const;

  // Reads bytes [offset, offset + out.size()) of the tensor's data. Throws Error(bad_file) when the file has become
  // shorter, Error(io) when the system refuses.
  void read(const TensorInfo& tensor, std::uint64_t offset, std::span<std::byte> out) const;

 private:
  struct State;
  explicit GgufFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace glmhost::model_files
