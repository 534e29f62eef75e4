#include "excel-addin/functions/rendering.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "excel-addin/formula/calendar.h"
#include "excel-addin/formula/cell_address.h"
#include "excel-addin/formula/number_text.h"
#include "excel-addin/formula/text_units.h"

namespace glmhost::functions {
namespace {

std::string shown_date(double serial, formula::NumberKind kind) {
  const double day = std::floor(serial);
  char text[40];
  std::string shown;
  if (kind != formula::NumberKind::time && day >= 0 && day <= formula::kLastSerial) {
    const formula::Date date = formula::date_of(static_cast<std::int64_t>(day));
    std::snprintf(text, sizeof(text), "%04d-%02d-%02d", static_cast<int>(date.year), date.month, date.day);
    shown = text;
  }
  if (kind != formula::NumberKind::date) {
    const formula::Time time = formula::time_of(serial);
    std::snprintf(text, sizeof(text), "%s%02d:%02d:%02d", shown.empty() ? "" : " ", time.hour, time.minute,
                  time.second);
    shown += text;
  }
  return shown.empty() ? formula::number_to_text(serial) : shown;
}

// A cell inside of a line.
std::string cell_text(const Value& value) {
  if (value.is_text() && value.text().empty()) return "\"\"";
  std::string text = shown(value);
  for (char& c : text) {
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  }
  return text;
}

bool has_headers(const CellBlock& cells) {
  if (cells.rows() < 2) return false;
  for (std::uint32_t column = 0; column < cells.columns(); ++column) {
    const Value value = cells.cell(0, column);
    if (!value.is_text() || value.text().empty()) return false;
  }
  // A column of texts alone is data from its first cell on.
  for (std::uint32_t column = 0; column < cells.columns(); ++column) {
    if (!cells.cell(1, column).is_text()) return true;
  }
  return cells.columns() > 1;
}

Piece render_part(const Part& part, std::size_t most) {
  Piece piece;
  if (part.area) {
    const std::string sheet = part.area->sheet.empty() ? "" : part.area->sheet + "!";
    formula::Area place = *part.area;
    place.sheet.clear();
    piece.name = sheet + formula::area_text(place);
  } else {
    piece.name = "the array";
  }
  if (part.cells == nullptr) {
    piece.text = "Cells " + piece.name + ": all empty.\n";
    return piece;
  }
  const CellBlock& cells = *part.cells;
  const bool headers = has_headers(cells);
  const std::uint32_t first_row = part.area ? part.area->first_row + part.row_offset : 0;
  const std::uint32_t first_column = part.area ? part.area->first_column + part.column_offset : 0;
  piece.text = part.area ? "Cells " + piece.name + ":\n" : "A table:\n";
  std::string head = part.area ? "row" : "";
  for (std::uint32_t column = 0; column < cells.columns(); ++column) {
    if (!head.empty()) head += '\t';
    if (part.area) head += formula::column_letters(first_column + column);
    if (headers) head += (part.area ? ": " : "") + cell_text(cells.cell(0, column));
  }
  if (part.area || headers) piece.text += head + "\n";
  const std::uint32_t first = headers ? 1 : 0;
  piece.rows = cells.rows() - first;
  std::size_t bytes = 0;
  for (std::uint32_t row = first; row < cells.rows() && bytes < most; ++row) {
    std::string line = part.area ? std::to_string(first_row + row + 1) : "";
    for (std::uint32_t column = 0; column < cells.columns(); ++column) {
      if (column > 0 || part.area) line += '\t';
      line += cell_text(cells.cell(row, column));
    }
    line += '\n';
    bytes += line.size();
    piece.lines.push_back(std::move(line));
  }
  return piece;
}

bool is_single(const Argument& argument) {
  if (argument.parts.size() != 1) return false;
  const Part& part = argument.parts[0];
  const bool one_cell = !part.area || (part.area->rows() == 1 && part.area->columns() == 1);
  return one_cell && (part.cells == nullptr || (part.cells->rows() == 1 && part.cells->columns() == 1));
}

}  // namespace

std::size_t Piece::bytes() const {
  std::size_t bytes = text.size();
  for (const std::string& line : lines) bytes += line.size();
  return bytes;
}

std::string shown(const Value& value) {
  switch (value.type()) {
    case formula::Type::number:
      return value.kind() == formula::NumberKind::plain ? formula::number_to_text(value.number())
                                                        : shown_date(value.number(), value.kind());
    case formula::Type::text:
      return formula::valid_utf8(value.text());
    case formula::Type::boolean:
      return value.boolean() ? "TRUE" : "FALSE";
    case formula::Type::error:
      return std::string(formula::error_name(value.error()));
    default:
      return {};
  }
}

std::vector<Piece> render(const Argument& argument, std::size_t most) {
  std::vector<Piece> pieces;
  if (is_single(argument)) {
    Piece& piece = pieces.emplace_back();
    if (argument.parts[0].cells) piece.text = shown(argument.parts[0].cells->cell(0, 0));
    return pieces;
  }
  for (const Part& part : argument.parts) pieces.push_back(render_part(part, most));
  return pieces;
}

std::string joined(const std::vector<Piece>& pieces, std::size_t most, std::string& note) {
  std::vector<std::size_t> kept, sizes;
  std::size_t total = 0;
  for (const Piece& piece : pieces) {
    kept.push_back(piece.lines.size());
    sizes.push_back(piece.bytes());
    total += sizes.back();
  }
  while (total > most) {
    std::size_t longest = pieces.size();
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (kept[i] > 0 && (longest == pieces.size() || sizes[i] > sizes[longest])) longest = i;
    }
    if (longest == pieces.size()) break;
    const std::size_t gone = pieces[longest].lines[--kept[longest]].size();
    sizes[longest] -= gone;
    total -= gone;
  }
  note.clear();
  std::string text;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    text += pieces[i].text;
    for (std::size_t line = 0; line < kept[i]; ++line) text += pieces[i].lines[line];
    if (kept[i] == pieces[i].rows) continue;
    const std::size_t gone = pieces[i].rows - kept[i];
    text += "(" + std::to_string(gone) + " more rows are not shown.)\n";
    if (!note.empty()) note += " ";
    note += "The last " + std::to_string(gone) + " of " + std::to_string(pieces[i].rows) + " rows of " +
            pieces[i].name + " were left out: they do not fit into the model's context.";
  }
  return text;
}

}  // namespace glmhost::functions
