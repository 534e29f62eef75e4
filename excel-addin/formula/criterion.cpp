#include "excel-addin/formula/criterion.h"

#include "excel-addin/formula/coercion.h"
#include "excel-addin/formula/number_text.h"
#include "excel-addin/formula/text_units.h"

namespace glmhost::formula {

Criterion::Criterion(const Value& value) : operand_(value.scalar()) {
  if (operand_.is_empty()) operand_ = Value(0.0);  // an empty cell asks for 0
  if (!operand_.is_text()) return;
  std::string text = operand_.text();
  constexpr struct {
    std::string_view sign;
    Comparison comparison;
  } kOperators[] = {{"<>", Comparison::not_equal}, {"<=", Comparison::less_equal}, {">=", Comparison::greater_equal},
                    {"=", Comparison::equal},      {"<", Comparison::less},        {">", Comparison::greater}};
  for (const auto& [sign, comparison] : kOperators) {
    if (!text.starts_with(sign)) continue;
    comparison_ = comparison;
    has_operator_ = true;
    text.erase(0, sign.size());
    break;
  }
  if (text.empty()) {
    operand_ = has_operator_ ? Value() : Value("");
  } else if (const auto number = text_to_number(text)) {
    operand_ = *number;
  } else if (equal_without_case(text, "TRUE") || equal_without_case(text, "FALSE")) {
    operand_ = Value(equal_without_case(text, "TRUE"));
  } else if (const auto error = error_named(text)) {
    operand_ = Value(*error);
  } else {
    operand_ = Value(text);
    pattern_.emplace(text);
  }
}

bool Criterion::equals(const Value& cell) const {
  switch (operand_.type()) {
    case Type::empty:  // "=": nothing is there
      return cell.is_empty();
    case Type::text:
      if (operand_.text().empty()) return cell.is_empty() || (cell.is_text() && cell.text().empty());
      return cell.is_text() && pattern_->matches(cell.text());
    case Type::number: {
      if (cell.is_number()) return equal_numbers(cell.number(), operand_.number());
      // A text that names the number counts as the number, when equality is asked for.
      if (!cell.is_text() || comparison_ != Comparison::equal) return false;
      const auto number = text_to_number(cell.text());
      return number && equal_numbers(number->number(), operand_.number());
    }
    case Type::boolean:
      return cell.is_boolean() && cell.boolean() == operand_.boolean();
    case Type::error:
      return cell.is_error() && cell.error() == operand_.error();
    default:
      return false;
  }
}

bool Criterion::holds(const Value& cell) const {
  if (comparison_ == Comparison::equal) return equals(cell);
  if (comparison_ == Comparison::not_equal) return !equals(cell);
  if (operand_.is_empty() || operand_.is_error() || cell.type() != operand_.type()) return false;
  const int order = compare_values(cell, operand_);
  switch (comparison_) {
    case Comparison::less:
      return order < 0;
    case Comparison::less_equal:
      return order <= 0;
    case Comparison::greater:
      return order > 0;
    default:
      return order >= 0;
  }
}

}  // namespace glmhost::formula
