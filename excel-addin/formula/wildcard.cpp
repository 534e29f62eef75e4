#include "excel-addin/formula/wildcard.h"

#include <algorithm>

#include "excel-addin/formula/text_units.h"

namespace glmhost::formula {

Wildcard::Wildcard(std::string_view pattern) {
  const std::u16string units = to_utf16(folded(pattern));
  for (std::size_t i = 0; i < units.size(); ++i) {
    const char16_t behind = i + 1 < units.size() ? units[i + 1] : u'\0';
    if (units[i] == u'~' && (behind == u'*' || behind == u'?' || behind == u'~')) {
      signs_.push_back({Sign::literal, behind});
      ++i;
    } else if (units[i] == u'~' && i + 1 == units.size()) {
      continue;  // a ~ at the end stands for nothing
    } else if (units[i] == u'*') {
      if (signs_.empty() || signs_.back().what != Sign::any_text) signs_.push_back({Sign::any_text, u'*'});
      has_wildcards_ = true;
    } else if (units[i] == u'?') {
      signs_.push_back({Sign::any_one, u'?'});
      has_wildcards_ = true;
    } else {
      signs_.push_back({Sign::literal, units[i]});
    }
  }
}

bool Wildcard::matches(std::string_view text) const {
  return matches_from(to_utf16(folded(text)), 0, 0, true);
}

// Goes back to the last * only: an earlier one need never take more.
bool Wildcard::matches_from(std::u16string_view text, std::size_t at, std::size_t sign, bool to_the_end) const {
  std::optional<std::size_t> star;
  std::size_t star_at = 0;
  while (true) {
    if (sign == signs_.size() && (!to_the_end || at == text.size())) return true;
    if (sign < signs_.size() && signs_[sign].what == Sign::any_text) {
      star = sign++;
      star_at = at;
    } else if (sign < signs_.size() && at < text.size() &&
               (signs_[sign].what == Sign::any_one || signs_[sign].unit == text[at])) {
      ++sign;
      ++at;
    } else if (star && star_at < text.size()) {
      sign = *star + 1;
      at = ++star_at;
    } else {
      return false;
    }
  }
}

std::optional<std::size_t> Wildcard::find(std::string_view text, std::size_t start) const {
  const std::u16string units = to_utf16(folded(text));
  const auto star = std::ranges::find_if(signs_, [](const Sign& sign) { return sign.what == Sign::any_text; });
  const auto head = static_cast<std::size_t>(star - signs_.begin());
  for (std::size_t at = start; at + head <= units.size(); ++at) {
    bool head_fits = true;
    for (std::size_t i = 0; i < head && head_fits; ++i) {
      head_fits = signs_[i].what == Sign::any_one || signs_[i].unit == units[at + i];
    }
    if (!head_fits) continue;
    if (matches_from(units, at + head, head, false)) return at;
    return std::nullopt;  // what is behind the first * is not behind any later place either
  }
  return std::nullopt;
}

}  // namespace glmhost::formula
