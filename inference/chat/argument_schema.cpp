#include "inference/chat/argument_schema.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "inference/chat/conversation.h"
#include "inference/error.h"

namespace glmhost::chat {
namespace {

constexpr int kMaxDepth = 64;  // of schemas that lead to one another: $ref may lead in a circle

const Json* member(const Json& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(std::string(key));
  return found == object.end() ? nullptr : &*found;
}

// The value of "#/$defs/name" and the like; null when there is none.
const Json* resolve(const Json& root, const std::string& reference) {
  if (reference == "#") return &root;
  if (!reference.starts_with("#/")) return nullptr;
  try {
    const Json::json_pointer pointer(reference.substr(1));
    return root.contains(pointer) ? &root.at(pointer) : nullptr;
  } catch (const Json::exception&) {
    return nullptr;
  }
}

std::string quoted(const std::string& text) {
  return "`" + text.substr(0, 80) + "`";
}

bool is_whole(const Json& value) {
  if (value.is_number_integer()) return true;
  return value.is_number_float() && std::isfinite(value.get<double>()) &&
         value.get<double>() == std::floor(value.get<double>());
}

bool is_of_type(const Json& value, const std::string& type) {
  if (type == "string") return value.is_string();
  if (type == "integer") return is_whole(value);
  if (type == "number") return value.is_number();
  if (type == "boolean") return value.is_boolean();
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "null") return value.is_null();
  return true;  // a type of a later time
}

// The names in "type", which is one or a list of them.
std::vector<std::string> types_of(const Json& schema) {
  std::vector<std::string> types;
  const Json* type = member(schema, "type");
  if (type == nullptr) return types;
  if (type->is_string()) types.push_back(type->get<std::string>());
  if (!type->is_array()) return types;
  for (const Json& each : *type) {
    if (each.is_string()) types.push_back(each.get<std::string>());
  }
  return types;
}

class Checker {
 public:
  explicit Checker(const Json& root) : root_(root) {}

  // What is wrong with the value, which is called `what`; empty when nothing is.
  std::string check(const Json& value, const Json& schema, const std::string& what, int depth = 0) const {
    if (!schema.is_object() || depth > kMaxDepth) {
      return schema.is_boolean() && !schema.get<bool>() ? what + " is not allowed." : "";
    }
    if (const Json* reference = member(schema, "$ref"); reference != nullptr && reference->is_string()) {
      const Json* target = resolve(root_, reference->get<std::string>());
      if (target != nullptr) {
        if (std::string problem = check(value, *target, what, depth + 1); !problem.empty()) return problem;
      }
    }
    if (std::string problem = check_type(value, schema, what); !problem.empty()) return problem;
    if (std::string problem = check_choice(value, schema, what, depth); !problem.empty()) return problem;
    if (value.is_object()) return check_members(value, schema, what, depth);
    const Json* items = member(schema, "items");
    if (!value.is_array() || items == nullptr) return "";
    for (std::size_t i = 0; i < value.size(); ++i) {
      std::string problem = check(value[i], *items, what + "[" + std::to_string(i) + "]", depth + 1);
      if (!problem.empty()) return problem;
    }
    return "";
  }

  // Whether the schema allows a string at all, and whether anything else.
  struct Kinds {
    bool text = false;
    bool other = false;
  };
  Kinds kinds(const Json& schema, int depth = 0) const {
    if (!schema.is_object() || depth > kMaxDepth) return {true, true};
    if (const Json* reference = member(schema, "$ref"); reference != nullptr && reference->is_string()) {
      const Json* target = resolve(root_, reference->get<std::string>());
      return target == nullptr ? Kinds{true, true} : kinds(*target, depth + 1);
    }
    const std::vector<std::string> types = types_of(schema);
    if (!types.empty()) {
      const auto texts = std::count(types.begin(), types.end(), "string");
      return {texts > 0, texts < static_cast<std::ptrdiff_t>(types.size())};
    }
    if (const Json* values = member(schema, "enum"); values != nullptr && values->is_array()) {
      const auto texts =
          std::count_if(values->begin(), values->end(), [](const Json& each) { return each.is_string(); });
      return {texts > 0, texts < static_cast<std::ptrdiff_t>(values->size())};
    }
    if (const Json* value = member(schema, "const")) return {value->is_string(), !value->is_string()};
    Kinds any;
    for (const char* key : {"anyOf", "oneOf", "allOf"}) {
      const Json* choices = member(schema, key);
      if (choices == nullptr || !choices->is_array()) continue;
      for (const Json& choice : *choices) {
        const Kinds of_choice = kinds(choice, depth + 1);
        any = {any.text || of_choice.text, any.other || of_choice.other};
      }
    }
    return any.text || any.other ? any : Kinds{true, true};
  }

 private:
  static std::string check_type(const Json& value, const Json& schema, const std::string& what) {
    const std::vector<std::string> types = types_of(schema);
    const auto fits = [&](const std::string& type) { return is_of_type(value, type); };
    if (types.empty() || std::any_of(types.begin(), types.end(), fits)) return "";
    std::string wanted;
    for (const std::string& type : types) wanted += (wanted.empty() ? "" : " or ") + type;
    return what + " must be of type " + wanted + ", but is of type " + value.type_name() + ".";
  }

  std::string check_choice(const Json& value, const Json& schema, const std::string& what, int depth) const {
    const Json* values = member(schema, "enum");
    if (values != nullptr && values->is_array() && std::find(values->begin(), values->end(), value) == values->end()) {
      return what + " is none of the values that are allowed: " + values->dump().substr(0, 200) + ".";
    }
    if (const Json* only = member(schema, "const"); only != nullptr && value != *only) {
      return what + " must be " + only->dump().substr(0, 200) + ".";
    }
    if (const Json* all = member(schema, "allOf"); all != nullptr && all->is_array()) {
      for (const Json& each : *all) {
        if (std::string problem = check(value, each, what, depth + 1); !problem.empty()) return problem;
      }
    }
    for (const char* key : {"anyOf", "oneOf"}) {
      const Json* choices = member(schema, key);
      if (choices == nullptr || !choices->is_array() || choices->empty()) continue;
      const auto fits = [&](const Json& choice) { return check(value, choice, what, depth + 1).empty(); };
      if (std::none_of(choices->begin(), choices->end(), fits)) {
        return what + " fits none of the forms that its schema allows.";
      }
    }
    return "";
  }

  std::string check_members(const Json& value, const Json& schema, const std::string& what, int depth) const {
    if (const Json* required = member(schema, "required"); required != nullptr && required->is_array()) {
      for (const Json& key : *required) {
        if (key.is_string() && !value.contains(key.get<std::string>())) {
          return what + " lacks " + quoted(key.get<std::string>()) + ", which is required.";
        }
      }
    }
    const Json* properties = member(schema, "properties");
    const Json* others = member(schema, "additionalProperties");
    for (const auto& [key, each] : value.items()) {
      const std::string inner = depth == 0 ? "The argument " + quoted(key) : what + "." + key.substr(0, 80);
      const Json* known = properties == nullptr ? nullptr : member(*properties, key);
      if (known == nullptr && others != nullptr && others->is_boolean() && !others->get<bool>()) {
        return inner + " is not known to the tool.";
      }
      const Json* of_key = known != nullptr ? known : others;
      if (of_key == nullptr) continue;
      if (std::string problem = check(each, *of_key, inner, depth + 1); !problem.empty()) return problem;
    }
    return "";
  }

  const Json& root_;
};

}  // namespace

Json typed_argument(std::string_view text, const Json& parameters, std::string_view key) {
  const Json* properties = member(parameters, "properties");
  const Json* schema = properties == nullptr ? nullptr : member(*properties, key);
  if (schema == nullptr) schema = member(parameters, "additionalProperties");
  const Checker checker(parameters);
  const Checker::Kinds kinds = schema == nullptr ? Checker::Kinds{true, true} : checker.kinds(*schema);
  if (!kinds.other) return Json(text);
  Json parsed = Json::parse(text, nullptr, false);
  if (parsed.is_discarded()) return Json(text);
  try {
    check_nesting(parsed, "An argument");
  } catch (const Error&) {
    return Json(text);
  }
  if (schema != nullptr && kinds.text && !checker.check(parsed, *schema, "").empty()) return Json(text);
  return parsed;
}

std::string check_arguments(const Json& arguments, const Json& parameters) {
  return Checker(parameters).check(arguments, parameters, "The call");
}

}  // namespace glmhost::chat
