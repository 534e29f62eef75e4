#include "excel-addin/functions/argument.h"

namespace glmhost::functions {

Argument Argument::of(Value value) {
  Argument argument;
  if (!value.is_omitted())
    argument.parts.push_back({std::nullopt, std::make_shared<ValueBlock>(std::move(value)), 0, 0});
  return argument;
}

Argument Argument::reference(formula::Area area, std::shared_ptr<const CellBlock> used, std::uint32_t row_offset,
                             std::uint32_t column_offset) {
  Argument argument;
  argument.parts.push_back({std::move(area), std::move(used), row_offset, column_offset});
  return argument;
}

}  // namespace glmhost::functions
