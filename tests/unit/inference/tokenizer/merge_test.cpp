#include "inference/tokenizer/merge.h"

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <utility>

namespace glmhost::tokenizer {
namespace {

using Rules = std::map<std::pair<TokenId, TokenId>, PairMerge>;

PairMerge look_up(const Rules& rules, TokenId left, TokenId right) {
  const auto found = rules.find({left, right});
  return found == rules.end() ? PairMerge{} : found->second;
}

std::vector<TokenId> merge(const Rules& rules, const std::vector<TokenId>& ids) {
  MergeBuffers buffers;
  for (std::size_t i = 0; i < ids.size(); ++i) append_symbol(buffers.symbols, i, i + 1, ids[i]);
  merge_symbols(buffers, [&](const Symbol& left, const Symbol& right) { return look_up(rules, left.id, right.id); });
  std::vector<TokenId> merged;
  std::uint32_t covered = 0;
  for (std::uint32_t i = ids.empty() ? kNoSymbol : 0; i != kNoSymbol; i = buffers.symbols[i].next) {
    CHECK(buffers.symbols[i].begin == covered);  // symbols cover the text without a gap
    covered = buffers.symbols[i].end;
    merged.push_back(buffers.symbols[i].id);
  }
  CHECK(covered == ids.size());
  return merged;
}

// The definition: merge the leftmost of the best pairs, start again.
std::vector<TokenId> merge_by_definition(const Rules& rules, std::vector<TokenId> ids) {
  while (true) {
    PairMerge best;
    std::size_t at = 0;
    for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
      const PairMerge pair = look_up(rules, ids[i], ids[i + 1]);
      if (pair.rank < best.rank) {
        best = pair;
        at = i;
      }
    }
    if (best.rank == kNoRank) return ids;
    ids[at] = best.merged;
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
}

TEST_CASE("merging equals its definition on random rules, with ranks of their own and shared ones") {
  std::mt19937 random(3);
  for (int round = 0; round < 400; ++round) {
    const auto letters = static_cast<std::uint32_t>(1 + random() % 4);
    const std::uint32_t ranks = round % 2 ? 6 : 1000000;
    Rules rules;
    TokenId next = static_cast<TokenId>(letters);
    for (int n = 0; n < 25; ++n) {
      const auto pick = [&] { return static_cast<TokenId>(random() % static_cast<std::uint32_t>(next)); };
      if (rules.insert({{pick(), pick()}, {static_cast<std::uint32_t>(random() % ranks), next}}).second) ++next;
    }
    std::vector<TokenId> ids(random() % 60);
    for (TokenId& id : ids) id = static_cast<TokenId>(random() % letters);
    CHECK(merge(rules, ids) == merge_by_definition(rules, ids));
  }
}

TEST_CASE("of equal pairs the leftmost is merged first") {
  const Rules rules = {{{0, 0}, {0, 1}}};
  CHECK(merge(rules, {0, 0, 0}) == std::vector<TokenId>{1, 0});
  CHECK(merge(rules, {0, 0, 0, 0, 0}) == std::vector<TokenId>{1, 1, 0});
}

TEST_CASE("nothing and a single symbol stay") {
  CHECK(merge({}, {}).empty());
  CHECK(merge({}, {7}) == std::vector<TokenId>{7});
}

}  // namespace
}  // namespace glmhost::tokenizer
