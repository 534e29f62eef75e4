#include "inference/model_files/shard_name.h"

#include <string>
#include <string_view>

namespace glmhost::model_files {
namespace {

constexpr std::size_t kDigits = 5;
constexpr std::string_view kPattern = "-00001-of-00001.gguf";  // a digit stands for any digit

// Works on the path's own character type, so that a name in any script survives on Windows.
using Name = std::filesystem::path::string_type;
using Character = std::filesystem::path::value_type;

bool is_digit(Character c) {
  return c >= Character('0') && c <= Character('9');
}

bool matches(const Name& name, std::size_t at) {
  for (std::size_t i = 0; i < kPattern.size(); ++i) {
    const bool digit = kPattern[i] == '0' || kPattern[i] == '1';
    if (digit ? !is_digit(name[at + i]) : name[at + i] != Character(kPattern[i])) return false;
  }
  return true;
}

int read_digits(const Name& name, std::size_t at) {
  int value = 0;
  for (std::size_t i = 0; i < kDigits; ++i) value = value * 10 + static_cast<int>(name[at + i] - Character('0'));
  return value;
}

}  // namespace

std::filesystem::path ShardName::sibling(int other_number) const {
  Name name = path.filename().native();
  std::size_t at = name.size() - kPattern.size() + 1 + kDigits;
  for (std::size_t i = 0; i < kDigits; ++i, other_number /= 10) name[--at] = Character('0' + other_number % 10);
  std::filesystem::path result = path;
  return result.replace_filename(name);
}

std::optional<ShardName> parse_shard_name(const std::filesystem::path& path) {
  const Name name = path.filename().native();
  if (name.size() < kPattern.size()) return std::nullopt;
  const std::size_t at = name.size() - kPattern.size();
  if (!matches(name, at)) return std::nullopt;
  const ShardName result{read_digits(name, at + 1), read_digits(name, at + 1 + kDigits + 4), path};
  if (result.number < 1 || result.number > result.count) return std::nullopt;
  return result;
}

}  // namespace glmhost::model_files
