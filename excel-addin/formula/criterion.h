// What COUNTIF, SUMIFS and their like ask of a cell: 5, ">=5", "<>", "A*", "=", "<>#N/A".
#pragma once

#include <optional>
#include <string>

#include "excel-addin/formula/value.h"
#include "excel-addin/formula/wildcard.h"

namespace glmhost::formula {

class Criterion {
 public:
  explicit Criterion(const Value& value);
  bool holds(const Value& cell) const;

 private:
  enum class Comparison { equal, not_equal, less, less_equal, greater, greater_equal };
  bool equals(const Value& cell) const;

  Comparison comparison_ = Comparison::equal;
  Value operand_;
  bool has_operator_ = false;
  std::optional<Wildcard> pattern_;
};

}  // namespace glmhost::formula
