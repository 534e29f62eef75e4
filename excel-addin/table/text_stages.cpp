// split and combine: one column of texts to many cells, and back.
#include <algorithm>
#include <optional>

#include "excel-addin/formula/regex.h"
#include "excel-addin/formula/text_units.h"
#include "excel-addin/table/csv_writer.h"
#include "excel-addin/table/run.h"
#include "excel-addin/table/table_error.h"

namespace glmhost::table {

using formula::Value;

namespace {

class Splitter {
 public:
  explicit Splitter(const Split& stage) : stage_(stage) {
    if (stage.regex) regex_.emplace(stage.delimiter, false);
  }

  // The pieces; with `most` of them the last holds the rest of the text.
  std::vector<std::string_view> pieces(std::string_view text, std::size_t most) {
    std::vector<std::string_view> result;
    std::size_t begin = 0, search = 0;
    while (result.size() + 1 < most) {
      const auto [at, end] = next(text, search);
      if (at == std::string_view::npos) break;
      if (end == at) {  // a pattern that matches nothing at all divides before each character but the first
        std::size_t behind = at;
        if (at < text.size()) formula::next_code_point(text, behind);
        if (at == begin || at >= text.size()) {
          if (at >= text.size()) break;
          search = behind;
          continue;
        }
        search = behind;
      } else {
        search = end;
      }
      result.push_back(text.substr(begin, at - begin));
      begin = end;
    }
    result.push_back(text.substr(begin));
    return result;
  }

 private:
  std::pair<std::size_t, std::size_t> next(std::string_view text, std::size_t from) {
    constexpr auto kNone = std::pair(std::string_view::npos, std::string_view::npos);
    if (from > text.size()) return kNone;
    if (!regex_) {
      const std::size_t at = text.find(stage_.delimiter, from);
      return at == std::string_view::npos ? kNone : std::pair(at, at + stage_.delimiter.size());
    }
    const formula::RegexMatch match = regex_->match(text, from);
    if (regex_->gave_up()) {
      throw TableError("The pattern \"" + formula::valid_utf8(stage_.delimiter) +
                       "\" takes too many steps on one of the texts. Write it without nested repetitions.");
    }
    return match.empty() ? kNone : std::pair(match[0].begin, match[0].end);
  }

  const Split& stage_;
  std::optional<formula::Regex> regex_;
};

constexpr std::size_t kAll = static_cast<std::size_t>(-1);

// The pieces of each row, in one run. A cell that does not divide stays what it is.
struct Pieces {
  std::vector<std::size_t> ends;
  Column cells;
  std::size_t begin(std::size_t row) const { return row == 0 ? 0 : ends[row - 1]; }
  std::size_t count(std::size_t row) const { return ends[row] - begin(row); }
};

Pieces pieces_of(const Split& stage, const Column& column, std::size_t most_rows, Workers& workers) {
  Splitter splitter(stage);
  const std::size_t most = stage.into == SplitInto::named_columns ? stage.names.size() : kAll;
  Pieces result;
  ColumnBuilder builder;
  for (std::size_t row = 0; row < column.rows(); ++row) {
    if (row % Workers::kBlockRows == 0) workers.check_cancelled();
    const Value value = column.value(row);
    if (value.is_empty() || value.is_error()) {
      builder.add(value);
    } else {
      const std::string text = value.is_text() ? value.text() : shown_text(value);
      const auto pieces = splitter.pieces(text, most);
      if (pieces.size() == 1) {
        builder.add(value);
      } else {
        for (const std::string_view piece : pieces) builder.add_text(piece);
      }
    }
    if (builder.rows() > most_rows)
      throw TableError("split would make more than the " + std::to_string(most_rows) + " cells that are allowed.");
    result.ends.push_back(builder.rows());
  }
  result.cells = builder.finish();
  return result;
}

}  // namespace

Table Run::apply(const Split& stage, const Table& table) {
  const std::size_t place_of = place(stage.column, table);
  const Pieces pieces = pieces_of(stage, table.column(place_of, workers_), options_.most_rows, workers_);
  if (stage.into == SplitInto::rows) {
    Rows from;
    from.reserve(pieces.cells.rows());
    for (std::size_t row = 0; row < table.rows(); ++row)
      from.insert(from.end(), pieces.count(row), static_cast<std::uint32_t>(row));
    Table result = table.take(std::move(from), workers_);
    // The column may share its name with another one: it goes by its place.
    Table whole(result.rows());
    for (std::size_t i = 0; i < result.width(); ++i)
      whole.add(result.name(i), i == place_of ? LazyColumn(pieces.cells) : result.fields()[i].column);
    return whole;
  }
  std::vector<std::string> names = stage.names;
  if (stage.into == SplitInto::columns) {
    std::size_t widest = 1;
    for (std::size_t row = 0; row < table.rows(); ++row) widest = std::max(widest, pieces.count(row));
    if (widest > kMostColumns) {
      throw TableError("split would make " + std::to_string(widest) + " columns; " + std::to_string(kMostColumns) +
                       " are the most. Split to rows.");
    }
    for (std::size_t i = 1; i <= widest; ++i) names.push_back(table.name(place_of) + "_" + std::to_string(i));
  }
  Table result(table.rows());
  const auto add = [&](const std::string& name, LazyColumn column) {
    if (result.find(name)) {
      throw formula::SyntaxError("There would be two columns `" + formula::valid_utf8(name) + "`.",
                                 stage.column.span.offset, std::max<std::size_t>(stage.column.span.length, 1));
    }
    result.add(name, std::move(column));
  };
  for (std::size_t i = 0; i < table.width(); ++i) {
    if (i != place_of) {
      add(table.name(i), table.fields()[i].column);
      continue;
    }
    for (std::size_t k = 0; k < names.size(); ++k) {
      Rows from(table.rows());
      for (std::size_t row = 0; row < table.rows(); ++row)
        from[row] = k < pieces.count(row) ? static_cast<std::uint32_t>(pieces.begin(row) + k) : kNoRow;
      add(names[k], LazyColumn(pieces.cells, std::make_shared<const Rows>(std::move(from))));
    }
  }
  return result;
}

Table Run::apply(const CombineColumns& stage, const Table& table) {
  std::vector<std::size_t> places;
  for (const ColumnName& name : stage.columns) places.push_back(place(name, table));
  ColumnBuilder builder;
  builder.reserve(table.rows());
  std::string text;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (row % Workers::kBlockRows == 0) workers_.check_cancelled();
    text.clear();
    bool any = false;
    std::optional<Value> error;
    for (const std::size_t i : places) {
      const Value value = table.column(i, workers_).value(row);
      if (value.is_empty()) continue;
      if (value.is_error() && !error) error = value;
      if (any) text += stage.delimiter;
      text += value.is_text() ? value.text() : shown_text(value);
      any = true;
    }
    if (error) {
      builder.add(*error);
    } else if (any) {
      builder.add_text(text);
    } else {
      builder.add(Value());
    }
  }
  const Column combined = builder.finish();
  Table result(table.rows());
  for (std::size_t i = 0; i < table.width(); ++i) {
    const bool turned = std::ranges::find(places, i) != places.end();
    if (i == places[0]) {
      result.add(stage.name, LazyColumn(combined));
    } else if (!turned) {
      result.add(table.name(i), table.fields()[i].column);
    }
  }
  for (std::size_t i = 0; i < table.width(); ++i) {
    const bool kept = std::ranges::find(places, i) == places.end();
    if (kept && formula::equal_without_case(table.name(i), stage.name)) {
      throw formula::SyntaxError("There would be two columns `" + formula::valid_utf8(stage.name) + "`.",
                                 stage.columns[0].span.offset, std::max<std::size_t>(stage.columns[0].span.length, 1));
    }
  }
  return result;
}

}  // namespace glmhost::table
