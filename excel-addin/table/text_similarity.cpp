#include "excel-addin/table/text_similarity.h"

#include <algorithm>
#include <numeric>

#include "excel-addin/formula/text_units.h"

namespace glmhost::table {
namespace {

constexpr std::size_t kWord = 64;
constexpr char32_t kLow = 128;

// Row by row, for texts that are longer than a word.
std::size_t plain_distance(const std::u32string& a, const std::u32string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] != b[j] ? 1 : 0);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::u32string folded_for_similarity(std::string_view text) {
  const std::string lower = formula::lower(text);
  std::u32string result;
  bool blank = false;
  for (std::size_t at = 0; at < lower.size();) {
    const char32_t c = formula::next_code_point(lower, at);
    constexpr char32_t kNoBreakSpace = 0xA0;
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == kNoBreakSpace) {
      blank = !result.empty();
      continue;
    }
    if (blank) result += U' ';
    blank = false;
    result += c;
  }
  return result;
}

Similarity::Similarity(std::u32string text) : text_(std::move(text)) {
  if (text_.size() > kWord) return;
  low_.assign(kLow, 0);
  for (std::size_t i = 0; i < text_.size(); ++i) {
    const std::uint64_t bit = std::uint64_t{1} << i;
    if (text_[i] < kLow) {
      low_[text_[i]] |= bit;
      continue;
    }
    const auto known = std::ranges::find(high_, text_[i], &std::pair<char32_t, std::uint64_t>::first);
    if (known == high_.end()) {
      high_.emplace_back(text_[i], bit);
    } else {
      known->second |= bit;
    }
  }
}

std::uint64_t Similarity::places(char32_t c) const {
  if (c < kLow) return low_[c];
  for (const auto& [other, bits] : high_) {
    if (other == c) return bits;
  }
  return 0;
}

std::size_t Similarity::distance(const std::u32string& other) const {
  if (text_.empty()) return other.size();
  if (text_.size() > kWord) return plain_distance(text_, other);
  std::uint64_t up = ~std::uint64_t{0}, down = 0;  // where the column's cells grow and shrink by one
  std::size_t distance = text_.size();
  const std::uint64_t last = std::uint64_t{1} << (text_.size() - 1);
  for (const char32_t c : other) {
    const std::uint64_t same = places(c);
    const std::uint64_t diagonal = (((same & up) + up) ^ up) | same | down;
    std::uint64_t right = down | ~(diagonal | up), left = up & diagonal;
    if ((right & last) != 0) ++distance;
    if ((left & last) != 0) --distance;
    right = right << 1 | 1;
    left <<= 1;
    up = left | ~(diagonal | right);
    down = right & diagonal;
  }
  return distance;
}

double Similarity::to(const std::u32string& other, double least) const {
  const std::size_t longer = std::max(text_.size(), other.size()), shorter = std::min(text_.size(), other.size());
  if (longer == 0) return 1;
  const auto score_of = [&](std::size_t differing) {
    return 1 - static_cast<double>(differing) / static_cast<double>(longer);
  };
  if (score_of(longer - shorter) < least) return 0;
  const double score = score_of(distance(other));
  return score < least ? 0 : score;
}

}  // namespace glmhost::table
