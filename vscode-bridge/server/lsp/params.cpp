#include "vscode-bridge/server/lsp/params.h"

#include <cmath>

namespace glmhost::lsp {
namespace {

const Json* find(const Json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

[[noreturn]] void refuse(const char* name, const char* expected) {
  throw InvalidParams("The field \"" + std::string(name) + "\" must be " + expected + ".");
}

std::optional<std::int64_t> whole(const Json* value) {
  if (value == nullptr) return std::nullopt;
  if (value->is_number_unsigned()) {
    const auto number = value->get<std::uint64_t>();
    return number > INT64_MAX ? std::nullopt : std::optional(static_cast<std::int64_t>(number));
  }
  if (value->is_number_integer()) return value->get<std::int64_t>();
  if (value->is_number_float()) {  // 3.0 is what some clients write for 3
    const double number = value->get<double>();
    if (std::trunc(number) == number && std::abs(number) < 9e15) return static_cast<std::int64_t>(number);
  }
  return std::nullopt;
}

}  // namespace

const Json& object_field(const Json& object, const char* name) {
  const Json* value = find(object, name);
  if (value == nullptr || !value->is_object()) refuse(name, "an object");
  return *value;
}

const Json& array_field(const Json& object, const char* name) {
  const Json* value = find(object, name);
  if (value == nullptr || !value->is_array()) refuse(name, "an array");
  return *value;
}

std::string text_field(const Json& object, const char* name) {
  const Json* value = find(object, name);
  if (value == nullptr || !value->is_string()) refuse(name, "a text");
  return value->get<std::string>();
}

std::int64_t number_field(const Json& object, const char* name) {
  const auto number = whole(find(object, name));
  if (!number) refuse(name, "a whole number");
  return *number;
}

std::string text_or(const Json& object, const char* name, std::string fallback) {
  const Json* value = find(object, name);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::move(fallback);
}

std::int64_t number_or(const Json& object, const char* name, std::int64_t fallback) {
  return whole(find(object, name)).value_or(fallback);
}

bool flag_or(const Json& object, const char* name, bool fallback) {
  const Json* value = find(object, name);
  return value != nullptr && value->is_boolean() ? value->get<bool>() : fallback;
}

const Json* find_object(const Json& object, const char* name) {
  const Json* value = find(object, name);
  return value != nullptr && value->is_object() ? value : nullptr;
}

}  // namespace glmhost::lsp
