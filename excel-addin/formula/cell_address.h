// A1, $B$7, C:C and 3:5: what cells are called.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "excel-addin/formula/value.h"

namespace glmhost::formula {

// A cell, column or row: what stands on one side of the colon. Zero-based; at least one is there.
struct AddressPart {
  std::optional<std::uint32_t> row, column;
};

// "A1", "$A$1", "A", "$3". Nothing when it lies outside of a sheet or is no address.
std::optional<AddressPart> parse_address_part(std::string_view text);

// "AB" for 27.
std::string column_letters(std::uint32_t column);

// "A1" or "A1:B3", without $.
std::string area_text(const Area& area);

}  // namespace glmhost::formula
