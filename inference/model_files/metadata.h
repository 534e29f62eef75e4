// The key-value part of a GGUF header, and typed access to it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "inference/model_files/gguf_file.h"
#include "inference/model_files/header_reader.h"

namespace glmhost::model_files {

class Metadata {
 public:
  // Reads `count` entries. Throws Error(bad_file).
  Metadata(HeaderReader& reader, std::uint64_t count, std::string file_name);
  Metadata(Metadata&&) noexcept = default;  // moved only: a copy's index would point into the original
  Metadata& operator=(Metadata&&) noexcept = default;

  // The contracts are those of GgufFile's members of the same name.
  const MetadataValue* find(std::string_view key) const;
  std::optional<std::uint64_t> get_unsigned(std::string_view key) const;
  std::optional<double> get_number(std::string_view key) const;
  std::optional<bool> get_bool(std::string_view key) const;
  std::optional<std::string_view> get_string(std::string_view key) const;
  const std::vector<std::string>* get_strings(std::string_view key) const;
  std::optional<std::vector<std::int64_t>> get_integers(std::string_view key) const;
  std::optional<std::vector<float>> get_floats(std::string_view key) const;
  std::vector<std::string> keys() const;

 private:
  [[noreturn]] void fail(std::string_view key, const std::string& problem) const;
  [[noreturn]] void fail_kind(std::string_view key, const MetadataValue& value, std::string_view wanted) const;

  std::string file_name_;
  std::vector<std::pair<std::string, MetadataValue>> entries_;  // in the file's order
  std::unordered_map<std::string_view, std::size_t> index_;     // views into entries_
};

}  // namespace glmhost::model_files
