#include "excel-addin/formula/value.h"

#include <algorithm>

namespace glmhost::formula {

std::optional<ErrorCode> error_named(std::string_view name) {
  const auto equal_without_case = [&](std::string_view candidate) {
    return std::ranges::equal(name, candidate, [](char a, char b) { return (a >= 'a' && a <= 'z' ? a - 32 : a) == b; });
  };
  const auto found = std::ranges::find_if(kErrorNames, equal_without_case);
  if (found == kErrorNames.end()) return std::nullopt;
  return static_cast<ErrorCode>(found - kErrorNames.begin());
}

const Value& Value::scalar() const {
  return is_array() ? array()[0] : *this;
}

const Area* Value::area() const {
  return is_array() && array().area() ? &*array().area() : nullptr;
}

std::span<const Value> cells_of(const Value& value) {
  return value.is_array() ? value.array().cells() : std::span<const Value>(&value, 1);
}

std::size_t rows_of(const Value& value) {
  return value.is_array() ? value.array().rows() : 1;
}

std::size_t columns_of(const Value& value) {
  return value.is_array() ? value.array().columns() : 1;
}

const Value& cell_of(const Value& value, std::size_t row, std::size_t column) {
  return value.is_array() ? value.array()(row, column) : value;
}

}  // namespace glmhost::formula
