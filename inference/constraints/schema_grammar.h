// JSON Schema to grammar.
#pragma once

#include <memory>
#include <string_view>

#include "inference/constraints/constraint.h"
#include "inference/constraints/grammar.h"

namespace glmhost::constraints {

// Not finished: the caller finishes it. Throws as compile().
std::shared_ptr<Grammar> schema_grammar(const Spec& spec);

// A rule in GRAMMAR for the JSON that satisfies the schema spec.text. Throws as compile().
RuleId add_schema(const std::shared_ptr<Grammar>& grammar, const Spec& spec);

}  // namespace glmhost::constraints
