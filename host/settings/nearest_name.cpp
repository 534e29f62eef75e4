#include "host/settings/nearest_name.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace glmhost::settings {
namespace {

// No real name is longer; longer input would only cost time.
constexpr std::size_t kLongestName = 128;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Optimal string alignment distance (Damerau-Levenshtein without overlapping swaps).
std::size_t edits(std::string_view a, std::string_view b) {
  const std::size_t width = b.size() + 1;
  std::vector<std::size_t> before_last(width), last(width), row(width);
  for (std::size_t j = 0; j < width; ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j < width; ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1])) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::string_view nearest_name(std::string_view written, std::span<const std::string_view> candidates) {
  if (written.empty() || written.size() > kLongestName) return {};
  std::string_view best;
  std::size_t fewest = 0;
  for (const std::string_view candidate : candidates) {
    if (candidate.empty() || candidate.size() > kLongestName) continue;
    const std::size_t longer = std::max(written.size(), candidate.size());
    const std::size_t distance = edits(written, candidate);
    if (distance > std::max<std::size_t>(1, longer / 3) || distance >= longer) continue;
    if (best.empty() || distance < fewest) {
      best = candidate;
      fewest = distance;
    }
  }
  return best;
}

}  // namespace glmhost::settings
