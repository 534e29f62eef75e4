// The constraints that a model's requests have demanded lately, compiled once.
//
// Thread rules: every member may be called from several threads at once.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

#include "inference/constraints/constraint.h"

namespace glmhost::constraints {

class ConstraintCache {
 public:
  static constexpr std::size_t kMostKept = 32;
  static constexpr std::size_t kMostTextKept = 16u << 20;  // bytes of all demands kept

  // The tokenizer must outlive the cache.
  explicit ConstraintCache(const tokenizer::Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  // Throws as compile() does; a failure is not kept.
  std::shared_ptr<const Constraint> get(const Spec& spec);

 private:
  std::shared_ptr<const TokenTrie> vocabulary();

  const tokenizer::Tokenizer& tokenizer_;
  std::mutex mutex_;
  std::shared_ptr<const TokenTrie> vocabulary_;                            // made when first needed
  std::list<std::pair<Spec, std::shared_ptr<const Constraint>>> entries_;  // the one used last in front
};

}  // namespace glmhost::constraints
