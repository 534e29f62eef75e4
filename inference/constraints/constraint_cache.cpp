#include "inference/constraints/constraint_cache.h"

#include <algorithm>

namespace glmhost::constraints {
namespace {

std::size_t text_bytes(const Spec& spec) {
  std::size_t bytes = spec.text.size();
  for (const std::string& choice : spec.choices) bytes += choice.size();
  return bytes;
}

}  // namespace

std::shared_ptr<const TokenTrie> ConstraintCache::vocabulary() {
  const std::lock_guard lock(mutex_);
  if (vocabulary_ == nullptr) vocabulary_ = std::make_shared<const TokenTrie>(tokenizer_);
  return vocabulary_;
}

std::shared_ptr<const Constraint> ConstraintCache::get(const Spec& spec) {
  {
    const std::lock_guard lock(mutex_);
    const auto known =
        std::find_if(entries_.begin(), entries_.end(), [&](const auto& one) { return one.first == spec; });
    if (known != entries_.end()) {
      entries_.splice(entries_.begin(), entries_, known);
      return entries_.front().second;
    }
  }
  // Without the lock: a large one takes long, and others are not to wait for it.
  std::shared_ptr<const Constraint> compiled = compile(spec, vocabulary());
  const std::lock_guard lock(mutex_);
  entries_.emplace_front(spec, compiled);
  std::size_t bytes = 0, kept = 0;
  for (auto one = entries_.begin(); one != entries_.end();) {
    bytes += text_bytes(one->first);
    ++kept;
    const bool fits = kept == 1 || (kept <= kMostKept && bytes <= kMostTextKept);
    one = fits ? std::next(one) : entries_.erase(one);
  }
  return compiled;
}

}  // namespace glmhost::constraints
