// The arguments of a tool call against the tool's JSON Schema.
#pragma once

#include <string>
#include <string_view>

#include "inference/chat/template.h"

namespace glmhost::chat {

// An argument that came as bare text. A text that the schema wants as a string stays one; else it is read as JSON where
// it is the JSON of a type that the schema allows; else it stays a string, for check_arguments() to complain of.
Json typed_argument(std::string_view text, const Json& parameters, std::string_view key);

// What is wrong with the arguments as a sentence that names the argument; empty when nothing is. Understood are type,
// properties, required, additionalProperties, items, enum, const, anyOf, oneOf, allOf and $ref into the same schema;
// other keywords are taken to hold.
std::string check_arguments(const Json& arguments, const Json& parameters);

}  // namespace glmhost::chat
