// How sentences about model files name things: file names, strings out of a file nobody vouches for, byte counts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace glmhost::model_files {

// text in double quotes, at most 100 bytes of it, with every byte that could upset a terminal or a log replaced by '?'.
std::string quoted_text(std::string_view text);

// The path as UTF-8 in double quotes.
std::string quoted_path(const std::filesystem::path& path);

// "1 byte", "1,234,567 bytes".
std::string byte_count(std::uint64_t bytes);

// "1,234,567".
std::string grouped(std::uint64_t number);

}  // namespace glmhost::model_files
