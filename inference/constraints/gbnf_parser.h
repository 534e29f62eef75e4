// The notation alone: text to rules.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "inference/constraints/expression.h"

namespace glmhost::constraints {

struct GbnfRule {
  std::string name;
  Expression expression;  // references by number
};

// Throws as gbnf_grammar() does. The first rule is `root`.
std::vector<GbnfRule> parse_gbnf(std::string_view text);

}  // namespace glmhost::constraints
