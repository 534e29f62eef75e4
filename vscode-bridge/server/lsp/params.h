// Reading the params of messages: each getter takes a value of its kind or throws InvalidParams with a sentence that
// names the field. Numbers that do not fit are as wrong as a missing field.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include "vscode-bridge/server/lsp/message.h"

namespace glmhost::lsp {

class InvalidParams : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

const Json& object_field(const Json& object, const char* name);
const Json& array_field(const Json& object, const char* name);
std::string text_field(const Json& object, const char* name);
std::int64_t number_field(const Json& object, const char* name);

// Where the field is absent, null or of another kind.
std::string text_or(const Json& object, const char* name, std::string fallback);
std::int64_t number_or(const Json& object, const char* name, std::int64_t fallback);
bool flag_or(const Json& object, const char* name, bool fallback);
const Json* find_object(const Json& object, const char* name);  // null when it is none

}  // namespace glmhost::lsp
