// What the tests of constraints share: a vocabulary made up for them, and texts walked through a constraint.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "inference/constraints/constraint.h"

namespace glmhost::constraints::testing {

// All single bytes, some thousand pairs and words, pieces of JSON, parts of characters; the last id ends an answer.
std::shared_ptr<const TokenTrie> vocabulary();

Spec schema(std::string text);
Spec regex(std::string text);
Spec gbnf(std::string text);
Spec choices(std::vector<std::string> texts);
Spec type(std::string name);

std::shared_ptr<const Constraint> compiled(const Spec& spec);
// The sentence with which SPEC is refused; "" when it is not.
std::string refusal(const Spec& spec);

// Whether the whole text is taken, token by token (of several ways to cut it, one picked by SEED), each token allowed
// by the mask before it, and may end there.
bool takes(const std::shared_ptr<const Constraint>& constraint, std::string_view text, std::uint32_t seed = 0);
bool takes(const Spec& spec, std::string_view text, std::uint32_t seed = 0);

// A random text of the constraint: tokens drawn from the masks, leaning towards the end. Fails the test when a state
// allows nothing. Empty when there is no end after MOST tokens.
std::string random_text(const std::shared_ptr<const Constraint>& constraint, std::uint32_t seed, int most = 400);

}  // namespace glmhost::constraints::testing
