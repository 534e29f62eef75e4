#include "excel-addin/table/column.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "excel-addin/table/workers.h"

namespace glmhost::table {
namespace {

using formula::NumberKind;
using formula::Value;

template <class... Buffers>
std::shared_ptr<const void> keep(Buffers... buffers) {
  return std::make_shared<std::tuple<Buffers...>>(std::move(buffers)...);
}

}  // namespace

Tag tag_of(NumberKind kind) {
  return static_cast<Tag>(static_cast<int>(Tag::number) + static_cast<int>(kind));
}

NumberKind kind_of(Tag tag) {
  return static_cast<NumberKind>(static_cast<int>(tag) - static_cast<int>(Tag::number));
}

Column Column::empties(std::size_t rows) {
  Column column;
  column.rows_ = rows;
  return column;
}

Column Column::numbers(Buffer<double> cells, Buffer<std::uint64_t> valid, NumberKind kind) {
  Column column;
  column.type_ = ColumnType::number;
  column.kind_ = kind;
  column.rows_ = cells.size();
  column.numbers_ = cells.data();
  column.valid_ = valid.data();
  column.owner_ = keep(std::move(cells), std::move(valid));
  return column;
}

Column Column::texts(Buffer<std::uint32_t> codes, Buffer<std::uint64_t> valid,
                     std::shared_ptr<const Dictionary> dictionary) {
  Column column;
  column.type_ = ColumnType::text;
  column.rows_ = codes.size();
  column.codes_ = codes.data();
  column.valid_ = valid.data();
  column.dictionary_ = std::move(dictionary);
  column.owner_ = keep(std::move(codes), std::move(valid));
  return column;
}

Column Column::booleans(Buffer<std::uint8_t> cells, Buffer<std::uint64_t> valid) {
  Column column;
  column.type_ = ColumnType::boolean;
  column.rows_ = cells.size();
  column.booleans_ = cells.data();
  column.valid_ = valid.data();
  column.owner_ = keep(std::move(cells), std::move(valid));
  return column;
}

Column Column::numbers_in_place(const double* cells, const std::uint64_t* valid, std::size_t rows, NumberKind kind,
                                std::shared_ptr<const void> owner) {
  Column column;
  column.type_ = ColumnType::number;
  column.kind_ = kind;
  column.rows_ = rows;
  column.numbers_ = cells;
  column.valid_ = valid;
  column.owner_ = std::move(owner);
  return column;
}

Column Column::booleans_in_place(const std::uint8_t* cells, const std::uint64_t* valid, std::size_t rows,
                                 std::shared_ptr<const void> owner) {
  Column column;
  column.type_ = ColumnType::boolean;
  column.rows_ = rows;
  column.booleans_ = cells;
  column.valid_ = valid;
  column.owner_ = std::move(owner);
  return column;
}

Column Column::mixed(Buffer<Tag> tags, Buffer<double> payloads, std::shared_ptr<const Dictionary> dictionary) {
  const std::size_t rows = tags.size();
  bool seen[8] = {};
  for (const Tag tag : tags.span()) seen[static_cast<int>(tag)] = true;
  const bool empties = std::exchange(seen[0], false);
  const auto types = std::count(std::begin(seen), std::end(seen), true);
  if (types == 0) return Column::empties(rows);
  if (types == 1 && !seen[static_cast<int>(Tag::error)]) {
    const auto tag = static_cast<Tag>(std::find(std::begin(seen), std::end(seen), true) - std::begin(seen));
    Buffer<std::uint64_t> valid;
    if (empties) {
      valid = Buffer<std::uint64_t>(bitmap_words(rows));
      std::fill_n(valid.data(), valid.size(), std::uint64_t{0});
      for (std::size_t i = 0; i < rows; ++i) valid[i >> 6] |= std::uint64_t{tags[i] != Tag::empty} << (i & 63);
    }
    if (is_number(tag)) return numbers(std::move(payloads), std::move(valid), table::kind_of(tag));
    if (tag == Tag::text) {
      Buffer<std::uint32_t> codes(rows);
      for (std::size_t i = 0; i < rows; ++i) {
        codes[i] = tags[i] == Tag::empty ? 0 : static_cast<std::uint32_t>(payloads[i]);
      }
      return texts(std::move(codes), std::move(valid), std::move(dictionary));
    }
    Buffer<std::uint8_t> cells(rows);
    for (std::size_t i = 0; i < rows; ++i) cells[i] = tags[i] != Tag::empty && payloads[i] != 0;
    return booleans(std::move(cells), std::move(valid));
  }
  Column column;
  column.type_ = ColumnType::mixed;
  column.rows_ = rows;
  column.tags_ = tags.data();
  column.numbers_ = payloads.data();
  column.dictionary_ = dictionary ? std::move(dictionary) : DictionaryBuilder().finish();
  column.owner_ = keep(std::move(tags), std::move(payloads));
  return column;
}

Column Column::constant(const Value& value, std::size_t rows) {
  ColumnBuilder one;
  one.add(value);
  const Column single = one.finish();
  Workers alone(1);
  return gather(single, Rows(rows, 0), alone);
}

Column Column::of(std::span<const Value> values) {
  ColumnBuilder builder;
  builder.reserve(values.size());
  for (const Value& value : values) builder.add(value);
  return builder.finish();
}

Tag Column::tag(std::size_t row) const {
  if (type_ == ColumnType::mixed) return tags_[row];
  if (type_ == ColumnType::empty || !is_valid(row)) return Tag::empty;
  if (type_ == ColumnType::number) return tag_of(kind_);
  return type_ == ColumnType::text ? Tag::text : Tag::boolean;
}

Value Column::value(std::size_t row) const {
  switch (const Tag cell = tag(row); cell) {
    case Tag::empty:
      return {};
    case Tag::text: {
      const auto code = type_ == ColumnType::text ? codes_[row] : static_cast<std::uint32_t>(numbers_[row]);
      return Value(dictionary_->text(code));
    }
    case Tag::boolean:
      return Value(type_ == ColumnType::boolean ? booleans_[row] != 0 : numbers_[row] != 0);
    case Tag::error:
      return Value(static_cast<formula::ErrorCode>(static_cast<int>(numbers_[row])));
    default:
      return Value(numbers_[row], table::kind_of(cell));
  }
}

void ColumnBuilder::reserve(std::size_t rows) {
  tags_.reserve(rows);
  payloads_.reserve(rows);
}

void ColumnBuilder::add(const Value& any) {
  const Value& value = any.scalar();
  switch (value.type()) {
    case formula::Type::number:
      return add(tag_of(value.kind()), value.number());
    case formula::Type::text:
      return add_text(value.text());
    case formula::Type::boolean:
      return add(Tag::boolean, value.boolean() ? 1 : 0);
    case formula::Type::error:
      return add(Tag::error, static_cast<double>(value.error()));
    default:
      return add(Tag::empty, 0);
  }
}

void ColumnBuilder::add(Tag tag, double payload) {
  tags_.push_back(tag);
  payloads_.push_back(payload);
}

void ColumnBuilder::add_text(std::string_view text) {
  add(Tag::text, texts_.code(text));
}

Column ColumnBuilder::finish() {
  Buffer<Tag> tags(tags_.size());
  Buffer<double> payloads(tags_.size());
  std::copy(tags_.begin(), tags_.end(), tags.data());
  std::copy(payloads_.begin(), payloads_.end(), payloads.data());
  tags_.clear();
  payloads_.clear();
  return Column::mixed(std::move(tags), std::move(payloads), texts_.finish());
}

namespace {

constexpr std::size_t kGatherBlock = std::size_t{1} << 15;  // a multiple of 64: blocks share no word of a bitmap

template <class Task>
void in_blocks(std::size_t rows, Workers& workers, const Task& task) {
  workers.run((rows + kGatherBlock - 1) / kGatherBlock,
              [&](std::size_t block) { task(block * kGatherBlock, std::min(rows, (block + 1) * kGatherBlock)); });
}

template <class T>
void gather_cells(const T* from, T* to, std::span<const std::uint32_t> rows, bool all_there, Workers& workers) {
  in_blocks(rows.size(), workers, [&](std::size_t begin, std::size_t end) {
    if (all_there) {
      for (std::size_t i = begin; i < end; ++i) to[i] = from[rows[i]];
    } else {
      for (std::size_t i = begin; i < end; ++i) to[i] = rows[i] == kNoRow ? T{} : from[rows[i]];
    }
  });
}

Buffer<std::uint64_t> gather_valid(const Column& column, std::span<const std::uint32_t> rows, bool all_there,
                                   Workers& workers) {
  if (all_there && column.valid() == nullptr) return {};
  Buffer<std::uint64_t> valid(bitmap_words(rows.size()));
  in_blocks(rows.size(), workers, [&](std::size_t begin, std::size_t end) {
    for (std::size_t word = begin / 64; word < bitmap_words(end); ++word) {
      std::uint64_t bits = 0;
      const std::size_t first = word * 64, last = std::min(end, first + 64);
      for (std::size_t i = first; i < last; ++i) {
        bits |= std::uint64_t{rows[i] != kNoRow && column.is_valid(rows[i])} << (i - first);
      }
      valid[word] = bits;
    }
  });
  return valid;
}

}  // namespace

Column gather(const Column& column, std::span<const std::uint32_t> rows, Workers& workers) {
  const bool is_mixed = column.type() == ColumnType::mixed;
  const std::size_t cell = column.type() == ColumnType::text ? sizeof(std::uint32_t) : sizeof(double);
  workers.require_memory(static_cast<double>(rows.size()) * static_cast<double>(cell + (is_mixed ? 1 : 0)),
                         "A column of the result takes");
  std::atomic<bool> all_there = true;
  in_blocks(rows.size(), workers, [&](std::size_t begin, std::size_t end) {
    std::uint32_t largest = 0;
    for (std::size_t i = begin; i < end; ++i) largest = std::max(largest, rows[i]);
    if (largest == kNoRow) all_there = false;
  });
  switch (column.type()) {
    case ColumnType::number: {
      Buffer<double> cells(rows.size());
      gather_cells(column.numbers(), cells.data(), rows, all_there, workers);
      return Column::numbers(std::move(cells), gather_valid(column, rows, all_there, workers), column.kind());
    }
    case ColumnType::text: {
      Buffer<std::uint32_t> codes(rows.size());
      gather_cells(column.codes(), codes.data(), rows, all_there, workers);
      return Column::texts(std::move(codes), gather_valid(column, rows, all_there, workers), column.dictionary());
    }
    case ColumnType::boolean: {
      Buffer<std::uint8_t> cells(rows.size());
      gather_cells(column.booleans(), cells.data(), rows, all_there, workers);
      return Column::booleans(std::move(cells), gather_valid(column, rows, all_there, workers));
    }
    case ColumnType::mixed: {
      Buffer<Tag> tags(rows.size());
      Buffer<double> payloads(rows.size());
      gather_cells(column.tags(), tags.data(), rows, all_there, workers);
      gather_cells(column.payloads(), payloads.data(), rows, all_there, workers);
      return Column::mixed(std::move(tags), std::move(payloads), column.dictionary());
    }
    default:
      return Column::empties(rows.size());
  }
}

Column concatenated(std::span<const Column> columns) {
  if (columns.size() == 1) return columns[0];
  std::size_t rows = 0;
  for (const Column& column : columns) rows += column.rows();
  Buffer<Tag> tags(rows);
  Buffer<double> payloads(rows);
  DictionaryBuilder texts;
  std::size_t at = 0;
  for (const Column& column : columns) {
    std::vector<std::uint32_t> codes(column.dictionary() ? column.dictionary()->size() : 0);
    for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = texts.code(column.dictionary()->text(i));
    for (std::size_t row = 0; row < column.rows(); ++row, ++at) {
      tags[at] = column.tag(row);
      payloads[at] = 0;
      switch (column.type()) {
        case ColumnType::number:
          payloads[at] = column.numbers()[row];
          break;
        case ColumnType::text:
          if (tags[at] == Tag::text) payloads[at] = codes[column.codes()[row]];
          break;
        case ColumnType::boolean:
          payloads[at] = column.booleans()[row];
          break;
        case ColumnType::mixed:
          payloads[at] =
              tags[at] == Tag::text ? codes[static_cast<std::size_t>(column.payloads()[row])] : column.payloads()[row];
          break;
        default:
          break;
      }
    }
  }
  return Column::mixed(std::move(tags), std::move(payloads), texts.finish());
}

}  // namespace glmhost::table
