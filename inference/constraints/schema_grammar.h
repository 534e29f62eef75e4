// JSON Schema to grammar.
#pragma once

#include <memory>
#include <string_view>

#include "inference/constraints/constraint.h"
#include "inference/constraints/grammar.h"

namespace glmhost::constraints {

// The name of the rule of a whole schema.
inline constexpr std::string_view kSchemaRule = "schema";

// Not finished: the caller finishes it. Throws as compile().
std::shared_ptr<Grammar> schema_grammar(const Spec& spec);

// A rule in GRAMMAR for the JSON that satisfies the schema spec.text. Throws as compile().
RuleId add_schema(const std::shared_ptr<Grammar>& grammar, const Spec& spec);

// The same, but a value that is a text stands without quotes and escapes: what a reader who knows the schema takes for
// one. Where the schema allows other values too, no text can be read as one of their kind. NEVER, the marker behind the
// value, comes nowhere in it.
RuleId add_raw_schema(const std::shared_ptr<Grammar>& grammar, const Spec& spec, std::string_view never);

}  // namespace glmhost::constraints
