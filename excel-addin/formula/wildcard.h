// Excel's patterns: * is any text, ? one UTF-16 unit, ~ takes the sign behind it for itself. Without case.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace glmhost::formula {

class Wildcard {
 public:
  explicit Wildcard(std::string_view pattern);

  bool has_wildcards() const { return has_wildcards_; }

  // The whole text. Time is at most the product of the lengths.
  bool matches(std::string_view text) const;

  // Where a match begins at or behind `start`, in UTF-16 units from 0.
  std::optional<std::size_t> find(std::string_view text, std::size_t start) const;

 private:
  struct Sign {
    enum { literal, any_one, any_text } what;
    char16_t unit;
  };
  bool matches_from(std::u16string_view text, std::size_t at, std::size_t sign, bool to_the_end) const;

  std::vector<Sign> signs_;
  bool has_wildcards_ = false;
};

}  // namespace glmhost::formula
