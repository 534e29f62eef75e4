#include "excel-addin/xll/segments.h"

#include <algorithm>
#include <string>
#include <vector>

#include "excel-addin/formula/coercion.h"
#include "excel-addin/formula/text_units.h"

namespace glmhost::xll {
namespace {

using ranges::CellTag;
using ranges::ColumnView;
using ranges::ColumnWriter;

// Rows that are handed to the columns at a time: few enough that Excel's cells are still in the cache for the last one.
constexpr std::uint32_t kRowsAtOnce = 256;

constexpr std::size_t kDoublesInCell = sizeof(XLOPER12) / sizeof(double);

void write_cell(const XLOPER12& cell, ColumnWriter& column) {
  switch (cell.xltype & kTypeMask) {
    case xltypeNum:
      column.add_number(cell.val.num);
      break;
    case xltypeInt:
      column.add_number(cell.val.w);
      break;
    case xltypeBool:
      column.add_boolean(cell.val.boolean != 0);
      break;
    case xltypeStr:
      column.add_text(text_of(cell));
      break;
    case xltypeErr:
      column.add_error(static_cast<std::uint8_t>(error_of(cell.val.err)));
      break;
    default:
      column.add_empty();
      break;
  }
}

void write_column(std::span<const XLOPER12> cells, std::size_t columns, std::size_t index, ColumnWriter column) {
  const std::size_t rows = cells.size() / columns;
  for (std::size_t row = 0; row < rows;) {
    std::size_t end = row;
    while (end < rows && (cells[end * columns + index].xltype & kTypeMask) == xltypeNum) ++end;
    if (end > row) {
      column.add_numbers(&cells[row * columns + index].val.num, end - row, columns * kDoublesInCell);
      row = end;
    } else {
      write_cell(cells[row * columns + index], column);
      ++row;
    }
  }
}

void write_value(const formula::Value& value, ColumnWriter column) {
  switch (value.type()) {
    case formula::Type::number:
      column.add_number(value.number());
      break;
    case formula::Type::boolean:
      column.add_boolean(value.boolean());
      break;
    case formula::Type::text:
      column.add_text(std::string_view(formula::valid_utf8(value.text())));
      break;
    case formula::Type::error:
      column.add_error(static_cast<std::uint8_t>(value.error()));
      break;
    default:
      column.add_empty();
      break;
  }
}

void write_part(const functions::CellBlock& cells, std::uint32_t first_row, std::uint64_t columns,
                ranges::Writer& writer) {
  if (const auto* block = dynamic_cast<const ExcelBlock*>(&cells))
    return write_rows(*block, first_row, columns, writer);
  for (std::uint32_t row = first_row; row < cells.rows(); ++row) {
    for (std::uint32_t column = 0; column < columns; ++column) {
      write_value(column < cells.columns() ? cells.cell(row, column) : formula::Value(), writer.column(column));
    }
  }
}

// The texts of the first row when it holds nothing else.
std::vector<std::string> names_in(const functions::CellBlock& cells) {
  std::vector<std::string> names;
  for (std::uint32_t column = 0; column < cells.columns(); ++column) {
    const formula::Value cell = cells.cell(0, column);
    if (!cell.is_text() || cell.text().empty()) return {};
    names.push_back(formula::valid_utf8(cell.text()));
  }
  return names;
}

void set_cell(const ColumnView& column, std::uint64_t row, std::size_t cell, ResultBuilder& builder) {
  switch (column.tag(row)) {
    case CellTag::empty:
      builder.set_empty(cell);
      break;
    case CellTag::text:
      builder.set_text(cell, column.text(row));
      break;
    case CellTag::boolean:
      builder.set_boolean(cell, column.number(row) != 0);
      break;
    case CellTag::error:
      builder.set_error(cell, static_cast<formula::ErrorCode>(static_cast<std::uint8_t>(column.number(row))));
      break;
    default:
      builder.set_number(cell, column.number(row));
      break;
  }
}

}  // namespace

void write_rows(const ExcelBlock& block, std::uint32_t first_row, std::uint64_t columns, ranges::Writer& writer) {
  for (std::uint32_t row = first_row; row < block.rows();) {
    const std::span<const XLOPER12> cells = block.run(row, kRowsAtOnce);
    const auto rows = static_cast<std::uint32_t>(cells.size() / block.columns());
    for (std::uint32_t column = 0; column < columns; ++column) {
      if (column < block.columns()) {
        write_column(cells, block.columns(), column, writer.column(column));
      } else {
        writer.column(column).add_empties(rows);
      }
    }
    row += rows;
  }
}

ranges::Segment make_segment(const functions::Argument& argument) {
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  const functions::CellBlock* first = nullptr;
  for (const functions::Part& part : argument.parts) {
    if (part.cells == nullptr) continue;
    if (first == nullptr) first = part.cells.get();
    rows += part.cells->rows();
    columns = std::max<std::uint64_t>(columns, part.cells->columns());
  }
  if (first == nullptr) return ranges::Writer(1, 1).seal();
  const std::vector<std::string> names = names_in(*first);
  const std::uint32_t skipped = names.empty() ? 0 : 1;
  ranges::Writer writer(rows - skipped, columns);
  for (std::size_t i = 0; i < names.size(); ++i) writer.set_name(i, names[i]);
  for (const functions::Part& part : argument.parts) {
    if (part.cells != nullptr) write_part(*part.cells, part.cells.get() == first ? skipped : 0, columns, writer);
  }
  return writer.seal();
}

Result make_result(const ranges::Segment& table) {
  bool has_names = false;
  std::size_t units = 0;
  for (std::uint64_t c = 0; c < table.width(); ++c) {
    const ColumnView& column = table.column(c);
    has_names = has_names || !column.name().empty();
    for (std::uint64_t row = 0; row < table.rows(); ++row) {
      if (column.tag(row) == CellTag::text) units += ResultBuilder::units_for(column.text(row));
    }
  }
  const std::uint64_t heads = has_names ? 1 : 0;
  const std::uint64_t rows = table.rows() + heads;
  if (rows == 0 || table.width() == 0) return make_result(formula::Value(formula::ErrorCode::calculation));
  if (rows > static_cast<std::uint64_t>(kMostRows) || table.width() > static_cast<std::uint64_t>(kMostColumns)) {
    return make_result(formula::Value(formula::ErrorCode::number));
  }
  for (std::uint64_t c = 0; c < table.width() && has_names; ++c)
    units += ResultBuilder::units_for(table.column(c).name());
  const auto width = static_cast<std::size_t>(table.width());
  ResultBuilder builder(static_cast<std::size_t>(rows), width, units);
  for (std::size_t c = 0; c < width; ++c) {
    const ColumnView& column = table.column(c);
    if (has_names) builder.set_text(c, column.name());
    for (std::uint64_t row = 0; row < table.rows(); ++row) {
      set_cell(column, row, static_cast<std::size_t>(row + heads) * width + c, builder);
    }
  }
  return builder.finish();
}

}  // namespace glmhost::xll
