// The steps of reading delimited text before types come in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace glmhost::table {

// UTF-8 without a byte order mark. `storage` holds the text where the bytes had to be converted.
std::string_view decoded(std::string_view bytes, std::string& storage, std::vector<std::string>& notes);

char sniffed_delimiter(std::string_view text);

// Fields of some rows. Offsets are relative to the text given.
struct Fields {
  // Per field: where it begins and how long it is. The high bit of `length` marks a quoted one, the next one a quoted
  // one that has doubled quotes in it.
  struct Field {
    std::uint32_t offset, length;
  };
  static constexpr std::uint32_t kQuoted = 0x80000000u, kEscaped = 0x40000000u, kLength = 0x3FFFFFFFu;

  std::vector<Field> fields;
  std::vector<std::uint32_t> row_ends;  // of each row, the end of its fields
  bool stray_quote = false;             // a quote inside of an unquoted field, or behind a closing one
  bool open_quote = false;              // the text ends inside of a quoted field

  std::size_t rows() const { return row_ends.size(); }
  std::size_t first(std::size_t row) const { return row == 0 ? 0 : row_ends[row - 1]; }
  std::size_t width(std::size_t row) const { return row_ends[row] - first(row); }
};

// Rows of nothing are left out when `skip_blank_lines`. The text is shorter than 1 GiB.
void split_fields(std::string_view text, char delimiter, bool skip_blank_lines, std::size_t most_rows, Fields& fields);

// The field without its quotes; `storage` holds it where quotes were doubled.
inline std::string_view field_text(std::string_view text, Fields::Field field, std::string& storage) {
  const std::string_view inside = text.substr(field.offset, field.length & Fields::kLength);
  if ((field.length & Fields::kEscaped) == 0) return inside;
  storage.clear();
  for (std::size_t i = 0; i < inside.size(); ++i) {
    storage += inside[i];
    if (inside[i] == '"' && i + 1 < inside.size() && inside[i + 1] == '"') ++i;
  }
  return storage;
}

// Places to cut the text so that every piece begins with a row: begins at 0, ends at the size.
std::vector<std::size_t> cut_rows(std::string_view text, std::size_t piece_size);

}  // namespace glmhost::table
