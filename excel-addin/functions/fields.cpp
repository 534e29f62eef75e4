#include "excel-addin/functions/fields.h"

#include <optional>

#include "excel-addin/formula/calendar.h"
#include "excel-addin/formula/number_text.h"
#include "excel-addin/formula/syntax_error.h"
#include "excel-addin/formula/text_units.h"
#include "excel-addin/functions/call_error.h"
#include "excel-addin/functions/rendering.h"

namespace glmhost::functions {
namespace {

using Json = nlohmann::ordered_json;

struct TypeName {
  std::string_view name;
  FieldType type;
};
constexpr TypeName kTypes[] = {{"text", FieldType::text},      {"number", FieldType::number},
                               {"date", FieldType::date},      {"boolean", FieldType::boolean},
                               {"string", FieldType::text},    {"bool", FieldType::boolean},
                               {"integer", FieldType::number}, {"any", FieldType::any}};

std::string trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(kBlanks) - first + 1));
}

FieldType type_named(const std::string& name, const std::string& field) {
  std::vector<std::string_view> names;
  for (const TypeName& known : kTypes) {
    if (formula::equal_without_case(known.name, name)) return known.type;
    names.push_back(known.name);
  }
  const std::string near(formula::nearest_of(name, names));
  throw CallError("The field \"" + field + "\" has the unknown type \"" + name + "\"." +
                  (near.empty() ? "" : " Did you mean " + near + "?") + " Types are text, number, date and boolean.");
}

Json schema_of(FieldType type, bool may_miss) {
  Json types = Json::array();
  switch (type) {
    case FieldType::number:
      types = {"number"};
      break;
    case FieldType::boolean:
      types = {"boolean"};
      break;
    case FieldType::any:
      types = {"string", "number"};
      break;
    default:
      types = {"string"};
  }
  if (may_miss) types.push_back("null");
  Json schema = {{"type", types.size() == 1 ? types[0] : types}};
  if (type == FieldType::date) schema["format"] = "date";
  return schema;
}

}  // namespace

std::vector<FieldSpec> parse_fields(const Argument& argument, std::string_view what) {
  std::vector<FieldSpec> fields;
  for (const Part& part : argument.parts) {
    for (std::uint32_t row = 0; part.cells && row < part.cells->rows(); ++row) {
      for (std::uint32_t column = 0; column < part.cells->columns(); ++column) {
        const Value cell = part.cells->cell(row, column);
        if (cell.is_error()) throw CallError(cell.error(), "One of the " + std::string(what) + " is an error value.");
        const std::string text = trimmed(shown(cell));
        if (text.empty()) continue;
        FieldSpec field;
        const auto colon = text.rfind(':');
        field.name = trimmed(text.substr(0, colon));
        if (colon != std::string::npos) field.type = type_named(trimmed(text.substr(colon + 1)), text);
        if (field.name.empty()) throw CallError("\"" + text + "\" has no name before its type.");
        for (const FieldSpec& other : fields) {
          if (other.name == field.name) {
            throw CallError("The name \"" + field.name + "\" is given twice among the " + std::string(what) + ".");
          }
        }
        fields.push_back(std::move(field));
      }
    }
  }
  if (fields.empty()) throw CallError("Give at least one name as " + std::string(what) + ".");
  return fields;
}

Json object_schema(const std::vector<FieldSpec>& fields, bool may_miss) {
  Json properties = Json::object(), required = Json::array();
  for (const FieldSpec& field : fields) {
    properties[field.name] = schema_of(field.type, may_miss);
    required.push_back(field.name);
  }
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

Value to_cell(const Json& value, FieldType type) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return value.is_null() ? Value("") : Value(value.dump());
  const auto& text = value.get_ref<const std::string&>();
  if (type == FieldType::date) {
    if (const std::optional<Value> date = formula::text_to_date(text)) return *date;
  }
  return Value(text);
}

}  // namespace glmhost::functions
