#include "excel-addin/formula/cell_address.h"

namespace glmhost::formula {

std::optional<AddressPart> parse_address_part(std::string_view text) {
  AddressPart part;
  std::size_t i = 0;
  const bool dollar = text.starts_with('$');
  if (dollar) ++i;
  std::uint32_t column = 0;
  const std::size_t letters = i;
  while (i < text.size() && i - letters < 4) {
    const char c = text[i];
    const int letter = c >= 'a' && c <= 'z' ? c - 'a' : c >= 'A' && c <= 'Z' ? c - 'A' : -1;
    if (letter < 0) break;
    column = column * 26 + static_cast<std::uint32_t>(letter) + 1;
    ++i;
  }
  if (i > letters) {
    if (column > kMostColumns) return std::nullopt;
    part.column = column - 1;
    if (i < text.size() && text[i] == '$') ++i;
  }
  const std::size_t digits = i;
  std::uint32_t row = 0;
  while (i < text.size() && text[i] >= '0' && text[i] <= '9' && i - digits < 8) {
    row = row * 10 + static_cast<std::uint32_t>(text[i++] - '0');
  }
  if (i > digits) {
    if (row == 0 || row > kMostRows) return std::nullopt;
    part.row = row - 1;
  } else if (i > 0 && text[i - 1] == '$') {
    return std::nullopt;
  }
  if (i != text.size() || (!part.row && !part.column)) return std::nullopt;
  return part;
}

std::string column_letters(std::uint32_t column) {
  std::string letters;
  for (std::uint32_t rest = column + 1; rest > 0; rest = (rest - 1) / 26) {
    letters.insert(letters.begin(), static_cast<char>('A' + (rest - 1) % 26));
  }
  return letters;
}

std::string area_text(const Area& area) {
  const std::string first = column_letters(area.first_column) + std::to_string(area.first_row + 1);
  if (area.rows() == 1 && area.columns() == 1) return first;
  return first + ":" + column_letters(area.last_column) + std::to_string(area.last_row + 1);
}

}  // namespace glmhost::formula
