#include <cmath>

#include "excel-addin/formula/arguments.h"
#include "excel-addin/formula/families.h"

namespace glmhost::formula {
namespace {

Value is_blank(Arguments& a) {
  return a[0].is_empty() && !a[0].is_omitted();
}
Value is_error(Arguments& a) {
  return a[0].is_error();
}
Value is_err(Arguments& a) {
  return a[0].is_error() && a[0].error() != ErrorCode::not_available;
}
Value is_na(Arguments& a) {
  return a[0].is_error() && a[0].error() == ErrorCode::not_available;
}
Value is_number(Arguments& a) {
  return a[0].is_number();
}
Value is_text(Arguments& a) {
  return a[0].is_text();
}
Value is_non_text(Arguments& a) {
  return !a[0].is_text();
}
Value is_logical(Arguments& a) {
  return a[0].is_boolean();
}
Value is_reference(Arguments& a) {
  return a[0].area() != nullptr;
}

bool is_even_number(Arguments& a) {
  return std::fmod(a.whole(0), 2) == 0;
}
Value is_even(Arguments& a) {
  return is_even_number(a);
}
Value is_odd(Arguments& a) {
  return !is_even_number(a);
}

Value n(Arguments& a) {
  const Value& value = a[0].scalar();
  if (value.is_number() || value.is_error()) return value;
  return value.is_boolean() && value.boolean() ? 1.0 : 0.0;
}

Value na(Arguments&) {
  return ErrorCode::not_available;
}

Value type(Arguments& a) {
  if (a[0].is_array() && a[0].array().size() > 1) return 64;
  switch (a[0].scalar().type()) {
    case Type::text:
      return 2;
    case Type::boolean:
      return 4;
    case Type::error:
      return 16;
    default:
      return 1;
  }
}

Value error_type(Arguments& a) {
  if (!a[0].is_error()) return ErrorCode::not_available;
  return static_cast<int>(a[0].error()) + 1;
}

constexpr Function kFunctions[] = {
    {"ISBLANK", "value", "TRUE for an empty cell.", is_blank},
    {"ISERROR", "value", "TRUE for any error.", is_error},
    {"ISERR", "value", "TRUE for any error but #N/A.", is_err},
    {"ISNA", "value", "TRUE for #N/A.", is_na},
    {"ISNUMBER", "value", "TRUE for a number.", is_number},
    {"ISTEXT", "value", "TRUE for a text.", is_text},
    {"ISNONTEXT", "value", "TRUE for all but a text.", is_non_text},
    {"ISLOGICAL", "value", "TRUE for TRUE and FALSE.", is_logical},
    {"ISREF", "*value", "TRUE for a reference to cells.", is_reference},
    {"ISEVEN", "number", "TRUE when the whole part is even.", is_even, Trait::refuses_booleans},
    {"ISODD", "number", "TRUE when the whole part is odd.", is_odd, Trait::refuses_booleans},
    {"N", "*value", "The number of a value: 1 for TRUE, 0 for a text.", n},
    {"NA", "", "The error #N/A.", na},
    {"TYPE", "*value", "1 for a number, 2 text, 4 truth value, 16 error, 64 array.", type},
    {"ERROR.TYPE", "value", "The number of an error: 1 for #NULL! to 7 for #N/A.", error_type},
};

}  // namespace

std::span<const Function> information_functions() {
  return kFunctions;
}

}  // namespace glmhost::formula
