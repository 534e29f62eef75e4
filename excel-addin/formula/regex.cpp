#include "excel-addin/formula/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>

#include "excel-addin/formula/text_units.h"

namespace glmhost::formula {
namespace {

constexpr std::uint32_t kMostSteps = 1'000'000;
constexpr std::uint32_t kMostDepth = 10'000;
constexpr std::uint32_t kMostHeap = 64 << 10;  // KiB
constexpr std::size_t kMostPattern = 32'767;
constexpr std::size_t kMostMatches = 100'000;

struct Free {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
  void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
};

PCRE2_SPTR bytes(std::string_view text) {
  static constexpr unsigned char kNothing = 0;
  return text.empty() ? &kNothing : reinterpret_cast<PCRE2_SPTR>(text.data());
}

}  // namespace

struct Regex::Compiled {
  std::unique_ptr<pcre2_code, Free> code;
  std::unique_ptr<pcre2_match_data, Free> data;
  std::unique_ptr<pcre2_match_context, Free> limits;
};

Regex::Regex(std::string_view pattern, bool without_case) {
  if (pattern.size() > kMostPattern) return;
  int error = 0;
  PCRE2_SIZE where = 0;
  const std::uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C | (without_case ? PCRE2_CASELESS : 0u);
  std::unique_ptr<pcre2_code, Free> code(
      pcre2_compile(bytes(pattern), pattern.size(), options, &error, &where, nullptr));
  if (!code) return;
  compiled_ = std::make_unique<Compiled>();
  compiled_->data.reset(pcre2_match_data_create_from_pattern(code.get(), nullptr));
  compiled_->limits.reset(pcre2_match_context_create(nullptr));
  compiled_->code = std::move(code);
  pcre2_set_match_limit(compiled_->limits.get(), kMostSteps);
  pcre2_set_depth_limit(compiled_->limits.get(), kMostDepth);
  pcre2_set_heap_limit(compiled_->limits.get(), kMostHeap);
}

Regex::~Regex() = default;

bool Regex::valid() const {
  return compiled_ != nullptr;
}

RegexMatch Regex::match(std::string_view text, std::size_t start, std::uint32_t options) {
  const int count = pcre2_match(compiled_->code.get(), bytes(text), text.size(), start, options, compiled_->data.get(),
                                compiled_->limits.get());
  if (count < 0) {
    gave_up_ = gave_up_ || count != PCRE2_ERROR_NOMATCH;
    return {};
  }
  const PCRE2_SIZE* offsets = pcre2_get_ovector_pointer(compiled_->data.get());
  RegexMatch groups(pcre2_get_ovector_count(compiled_->data.get()));
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (static_cast<int>(i) >= count || offsets[2 * i] == PCRE2_UNSET) continue;
    // \K in a lookahead can put the beginning behind the end.
    groups[i] = {std::min(offsets[2 * i], offsets[2 * i + 1]), offsets[2 * i + 1], true};
  }
  return groups;
}

RegexMatch Regex::match(std::string_view text, std::size_t start) {
  return match(text, start, 0u);
}

std::vector<RegexMatch> Regex::match_all(std::string_view text) {
  std::vector<RegexMatch> all;
  std::size_t at = 0;
  bool after_empty = false;
  while (at <= text.size() && all.size() < kMostMatches && !gave_up_) {
    RegexMatch groups = match(text, at, after_empty ? PCRE2_NOTEMPTY_ATSTART | PCRE2_ANCHORED : 0u);
    if (!groups.empty()) {
      after_empty = groups[0].begin == groups[0].end;
      at = std::max(at, groups[0].end);
      all.push_back(std::move(groups));
    } else if (after_empty && at < text.size()) {
      after_empty = false;
      next_code_point(text, at);
    } else {
      break;
    }
  }
  return all;
}

}  // namespace glmhost::formula
