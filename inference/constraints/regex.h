// Regular expressions as ECMA-262 writes them with its u flag, and as JSON Schema's `pattern` uses them.
//
// Supported: literals and escapes (\n \t \xHH \uHHHH \u{...} \cX \0), classes with ranges and negation, \d \D \w \W \s
// \S, \p{...} of general categories, groups (capturing, named, non-capturing), | * + ? {m} {m,} {m,n} and their lazy
// forms (the same language), ^ and $ anywhere. Refused by name: look-around, back references, \b and \B.
#pragma once

#include <string_view>

#include "inference/constraints/expression.h"

namespace glmhost::constraints {

// Throws Error(bad_argument) with the position of the mistake.
Expression parse_regex(std::string_view pattern);

// parse_regex and to_dfa; automata over the text's UTF-8.
DfaPointer regex_dfa(std::string_view pattern, Match match);

}  // namespace glmhost::constraints
