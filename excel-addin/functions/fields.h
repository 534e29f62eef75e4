// Names with types, as GLM.EXTRACT and GLM.GRID take them: "amount:number", "due:date", "paid:boolean", "sender".
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "excel-addin/functions/argument.h"

namespace glmhost::functions {

enum class FieldType : std::uint8_t { any, text, number, date, boolean };

struct FieldSpec {
  std::string name;
  FieldType type = FieldType::any;
  bool operator==(const FieldSpec&) const = default;
};

// Of the cells of an argument, blanks passed over. What follows the last colon is a type. Throws CallError: no fields,
// the same name twice, an unknown type (with the nearest known one).
std::vector<FieldSpec> parse_fields(const Argument& argument, std::string_view what);

// What an object with these fields looks like. `may_miss`: each may be null.
nlohmann::ordered_json object_schema(const std::vector<FieldSpec>& fields, bool may_miss);

// A value of such an object as a cell: null is "".
Value to_cell(const nlohmann::ordered_json& value, FieldType type);

}  // namespace glmhost::functions
