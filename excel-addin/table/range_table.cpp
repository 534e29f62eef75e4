#include "excel-addin/table/range_table.h"

#include "excel-addin/formula/text_units.h"

namespace glmhost::table {
namespace {

using ranges::CellTag;
using ranges::ColumnKind;
using ranges::ColumnView;

static_assert(static_cast<int>(Tag::empty) == static_cast<int>(CellTag::empty));
static_assert(static_cast<int>(Tag::date_time) == static_cast<int>(CellTag::date_time));
static_assert(static_cast<int>(Tag::error) == static_cast<int>(CellTag::error));

Column text_column(const ColumnView& view) {
  const auto rows = static_cast<std::size_t>(view.rows());
  DictionaryBuilder texts;
  Buffer<std::uint32_t> codes(rows);
  Buffer<std::uint64_t> valid;
  if (view.valid() != nullptr) {
    valid = Buffer<std::uint64_t>(bitmap_words(rows));
    std::copy_n(view.valid(), valid.size(), valid.data());
  }
  std::vector<std::uint32_t> of_code;
  if (view.kind() == ColumnKind::dictionary) {
    for (const ranges::TextRef ref : view.texts()) of_code.push_back(texts.code(view.resolve(ref)));
  }
  for (std::size_t row = 0; row < rows; ++row) {
    if (view.tag(row) == CellTag::empty) {
      codes[row] = 0;
    } else {
      codes[row] = of_code.empty() ? texts.code(view.text(row)) : of_code[view.codes()[row]];
    }
  }
  return Column::texts(std::move(codes), std::move(valid), texts.finish());
}

Column mixed_column(const ColumnView& view) {
  const auto rows = static_cast<std::size_t>(view.rows());
  DictionaryBuilder texts;
  Buffer<Tag> tags(rows);
  Buffer<double> payloads(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    tags[row] = static_cast<Tag>(view.tags()[row]);
    if (tags[row] == Tag::text) {
      payloads[row] = texts.code(view.text(row));
    } else {
      payloads[row] = tags[row] == Tag::empty ? 0 : view.numbers()[row];
    }
  }
  return Column::mixed(std::move(tags), std::move(payloads), texts.finish());
}

Column column_of(const ranges::Segment& segment, const ColumnView& view) {
  const auto rows = static_cast<std::size_t>(view.rows());
  if (rows == 0) return Column::empties(0);
  switch (view.kind()) {
    case ColumnKind::empty:
      return Column::empties(rows);
    case ColumnKind::number:
      return Column::numbers_in_place(view.numbers(), view.valid(), rows, kind_of(static_cast<Tag>(view.number_tag())),
                                      segment.owner());
    case ColumnKind::boolean:
      return Column::booleans_in_place(view.booleans(), view.valid(), rows, segment.owner());
    case ColumnKind::mixed:
      return mixed_column(view);
    default:
      return text_column(view);
  }
}

void write_column(const Column& column, ranges::ColumnWriter writer) {
  if (column.type() == ColumnType::empty) return;
  if (column.type() == ColumnType::number && !column.has_empties() && column.kind() == formula::NumberKind::plain) {
    return writer.add_numbers({column.numbers(), column.rows()});
  }
  if (column.type() == ColumnType::text) {
    const Dictionary& dictionary = *column.dictionary();
    // A filtered column keeps the whole dictionary; only a small one is worth handing over as it is.
    if (dictionary.size() > 0 && dictionary.size() <= column.rows()) {
      std::vector<std::string> owned;
      std::vector<std::string_view> texts;
      owned.reserve(dictionary.size());
      for (std::size_t i = 0; i < dictionary.size(); ++i) owned.push_back(formula::valid_utf8(dictionary.text(i)));
      texts.assign(owned.begin(), owned.end());
      return writer.set_dictionary({column.codes(), column.rows()}, column.valid(), texts);
    }
  }
  for (std::size_t row = 0; row < column.rows(); ++row) {
    const Tag tag = column.tag(row);
    if (tag == Tag::empty) {
      writer.add_empty();
    } else if (tag == Tag::text) {
      const auto code =
          column.type() == ColumnType::text ? column.codes()[row] : static_cast<std::uint32_t>(column.payloads()[row]);
      writer.add_text(std::string_view(formula::valid_utf8(column.dictionary()->text(code))));
    } else if (tag == Tag::boolean) {
      writer.add_boolean(column.type() == ColumnType::boolean ? column.booleans()[row] != 0
                                                              : column.payloads()[row] != 0);
    } else if (tag == Tag::error) {
      writer.add_error(static_cast<std::uint8_t>(column.payloads()[row]));
    } else {
      writer.add_number(column.numbers()[row], static_cast<CellTag>(tag));
    }
  }
}

}  // namespace

Table to_table(const ranges::Segment& segment) {
  Table table(static_cast<std::size_t>(segment.rows()));
  for (std::uint64_t i = 0; i < segment.width(); ++i) {
    const ColumnView& view = segment.column(i);
    std::string name(view.name());
    if (name.empty()) name = "column" + std::to_string(i + 1);
    table.add(free_name(table, std::move(name)), column_of(segment, view));
  }
  return table;
}

void write_table(const Table& table, Workers& workers, std::string_view segment) {
  ranges::Writer writer(table.rows(), table.width(), segment);
  for (std::size_t i = 0; i < table.width(); ++i) {
    workers.check_cancelled();
    writer.set_name(i, formula::valid_utf8(table.name(i)));
    write_column(table.column(i, workers), writer.column(i));
  }
  writer.seal();
}

}  // namespace glmhost::table
