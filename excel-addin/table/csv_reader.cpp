#include "excel-addin/table/csv_reader.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "excel-addin/formula/text_units.h"
#include "excel-addin/table/cell_guess.h"
#include "excel-addin/table/csv_text.h"
#include "excel-addin/table/table_error.h"

namespace glmhost::table {
namespace {

constexpr std::size_t kPieceSize = std::size_t{1} << 20;
constexpr std::size_t kLargestPiece = std::size_t{1} << 30;
constexpr std::size_t kSampleRows = 1000;

using Counts = std::array<std::size_t, 8>;  // by CellClass
std::size_t& of(Counts& counts, CellClass kind) {
  return counts[static_cast<std::size_t>(kind)];
}
std::size_t of(const Counts& counts, CellClass kind) {
  return counts[static_cast<std::size_t>(kind)];
}

// One column of the rows of one piece.
struct PieceColumn {
  bool texts = false;                // codes; else payloads, with tags where not all cells are numbers
  std::vector<std::uint32_t> codes;  // kNoRow: empty
  std::vector<double> payloads;
  std::vector<Tag> tags;
  std::shared_ptr<const Dictionary> dictionary;
  Counts counts{};
  std::size_t first_odd = 0;  // the first row of the piece whose cell is a text, where counts say there is one
  bool grouped = false;
};

struct Piece {
  std::string_view text;
  std::size_t rows = 0;
  std::vector<PieceColumn> columns;
  std::size_t short_rows = 0, long_rows = 0;
};

class Reader {
 public:
  Reader(std::string_view bytes, const CsvOptions& options, Workers& workers)
      : options_(options), workers_(workers), text_(decoded(bytes, storage_, notes_)) {}

  CsvResult read() {
    delimiter_ = options_.delimiter.value_or(sniffed_delimiter(text_));
    look_at_sample();
    std::vector<std::size_t> cuts = cut_rows(text_.substr(body_), kPieceSize);
    if (!split(cuts)) {
      // A quote where none belongs misleads the search for places to cut.
      if (text_.size() - body_ >= kLargestPiece) {
        throw TableError(
            "A quote stands inside of a field without quotes, and the file is too large (1 GiB or more) to be read in "
            "one piece.");
      }
      notes_.push_back("A quote stands where none belongs; it was read as part of its field.");
      cuts = {0, text_.size() - body_};
      split(cuts);
    }
    return {assemble(), std::move(notes_)};
  }

 private:
  void look_at_sample() {
    Fields sample;
    constexpr std::size_t kLooked = std::size_t{4} << 20;
    split_fields(text_.substr(0, kLooked), delimiter_, true, kSampleRows + 1, sample);
    if (sample.rows() == 0) return;
    std::string scratch;
    std::vector<std::string> first;
    for (std::size_t i = 0; i < sample.width(0); ++i) first.emplace_back(field_text(text_, sample.fields[i], scratch));
    skip_blank_lines_ = first.size() > 1;
    const bool has_header = options_.header.value_or(looks_like_header(first));
    if (has_header) {
      const auto last = sample.fields[sample.width(0) - 1];
      body_ = last.offset + (last.length & Fields::kLength);
      if ((last.length & Fields::kQuoted) != 0 && body_ < text_.size()) ++body_;  // the closing quote, if there
      while (body_ < text_.size() && text_[body_] != '\n' && text_[body_] != '\r') ++body_;
      if (body_ < text_.size())
        body_ += text_[body_] == '\r' && body_ + 1 < text_.size() && text_[body_ + 1] == '\n' ? 2 : 1;
      names_ = std::move(first);
    } else {
      names_.resize(first.size());
    }
    plan(sample, has_header ? 1 : 0);
  }

  static bool looks_like_header(const std::vector<std::string>& first) {
    bool any = false;
    for (const std::string& name : first) {
      const CellClass kind = guessed_cell(name, '.').kind;
      if (kind != CellClass::empty && kind != CellClass::text) return false;
      any |= kind == CellClass::text;
    }
    return any;
  }

  // Which columns are texts for sure, and whether decimals have commas.
  void plan(const Fields& sample, std::size_t first_row) {
    std::vector<Counts> counts;
    std::size_t commas = 0, points = 0;
    std::string scratch;
    const auto each_cell = [&](const auto& visit) {
      for (std::size_t row = first_row; row < sample.rows(); ++row) {
        for (std::size_t i = 0; i < sample.width(row); ++i) {
          visit(i, field_text(text_, sample.fields[sample.first(row) + i], scratch));
        }
      }
    };
    if (delimiter_ != ',') {
      each_cell([&](std::size_t, std::string_view cell) {
        commas += has_decimal_comma(cell);
        points += has_decimal_point(cell);
      });
    }
    if (commas > points) {
      decimal_ = ',';
      notes_.push_back("Numbers were read with decimal commas.");
    }
    each_cell([&](std::size_t column, std::string_view cell) {
      if (counts.size() <= column) counts.resize(column + 1);
      ++of(counts[column], guessed_cell(cell, decimal_).kind);
    });
    surely_text_.resize(counts.size());
    for (std::size_t i = 0; i < counts.size(); ++i) surely_text_[i] = is_text_column(counts[i]);
  }

  static std::size_t texts_of(const Counts& counts) {
    return of(counts, CellClass::text) + of(counts, CellClass::slash_date);
  }
  static std::size_t typed_of(const Counts& counts) {
    return of(counts, CellClass::number) + of(counts, CellClass::boolean) + of(counts, CellClass::date);
  }
  static bool is_text_column(const Counts& counts) {
    return of(counts, CellClass::identifier) > 0 || texts_of(counts) > typed_of(counts);
  }

  bool split(const std::vector<std::size_t>& cuts) {
    const std::string_view body = text_.substr(body_);
    pieces_.assign(cuts.size() - 1, {});
    std::atomic<bool> stray = false;
    workers_.run(pieces_.size(), [&](std::size_t i) {
      Piece& piece = pieces_[i];
      piece.text = body.substr(cuts[i], cuts[i + 1] - cuts[i]);
      if (piece.text.size() >= kLargestPiece)
        throw TableError(
            "A row of the file is 1 GiB long or longer; is it a table at all? An opening quote without its end makes "
            "one row of all that follows.");
      Fields fields;
      split_fields(piece.text, delimiter_, skip_blank_lines_, kMostTableRows, fields);
      if (fields.stray_quote && pieces_.size() > 1) stray = true;
      if (fields.open_quote) open_quote_ = true;
      if (!stray) read_piece(piece, fields);
    });
    std::size_t rows = 0;
    for (const Piece& piece : pieces_) rows += piece.rows;
    if (rows > kMostTableRows) throw TableError("The file has more than 4,294,967,294 rows.");
    return !stray;
  }

  void read_piece(Piece& piece, const Fields& fields) const {
    piece.rows = fields.rows();
    std::size_t width = names_.size();
    for (std::size_t row = 0; row < piece.rows; ++row) {
      const std::size_t own = fields.width(row);
      piece.short_rows += own < names_.size();
      piece.long_rows += own > names_.size();
      width = std::max(width, own);
    }
    // Each row would have all of them: one row of a million fields in a long file would take all memory.
    if (width > kMostColumns) {
      throw TableError("A row of the file has " + std::to_string(width) + " fields; a table has at most " +
                       std::to_string(kMostColumns) + " columns. Is the delimiter right, and is it a table at all?");
    }
    piece.columns.resize(width);
    for (std::size_t i = 0; i < width; ++i) {
      if (!options_.guess_types || (i < surely_text_.size() && surely_text_[i])) {
        read_texts(piece, fields, i);
      } else {
        read_cells(piece, fields, i);
      }
    }
  }

  // Calls visit(row, text, is it quoted) for the column's fields.
  template <class Visit>
  static void each_field(const Piece& piece, const Fields& fields, std::size_t column, const Visit& visit) {
    std::string scratch;
    for (std::size_t row = 0; row < piece.rows; ++row) {
      const std::size_t first = fields.first(row);
      if (first + column >= fields.row_ends[row]) {
        visit(row, std::string_view(), false);
        continue;
      }
      const Fields::Field field = fields.fields[first + column];
      visit(row, field_text(piece.text, field, scratch), (field.length & Fields::kQuoted) != 0);
    }
  }

  static void read_texts(Piece& piece, const Fields& fields, std::size_t column) {
    PieceColumn& out = piece.columns[column];
    out = {};
    out.texts = true;
    out.codes.resize(piece.rows);
    DictionaryBuilder texts;
    each_field(piece, fields, column, [&](std::size_t row, std::string_view text, bool quoted) {
      out.codes[row] = text.empty() && !quoted ? kNoRow : texts.code(text);
    });
    out.dictionary = texts.finish();
  }

  void read_cells(Piece& piece, const Fields& fields, std::size_t column) const {
    PieceColumn& out = piece.columns[column];
    out.payloads.resize(piece.rows);
    DictionaryBuilder texts;
    each_field(piece, fields, column, [&](std::size_t row, std::string_view text, bool quoted) {
      Cell cell = guessed_cell(text, decimal_);
      if (cell.kind == CellClass::empty && quoted) cell.kind = CellClass::text;
      ++of(out.counts, cell.kind);
      out.grouped |= cell.grouped;
      if (cell.kind == CellClass::number) [[likely]] {
        out.payloads[row] = cell.payload;
        if (!out.tags.empty()) out.tags[row] = Tag::number;
        return;
      }
      if (out.tags.empty()) out.tags.assign(piece.rows, Tag::number);
      if (cell.tag == Tag::empty && cell.kind != CellClass::empty) {
        if (texts_of(out.counts) + of(out.counts, CellClass::identifier) == 1) out.first_odd = row;
        cell.tag = Tag::text;
        cell.payload = texts.code(text);
      }
      out.tags[row] = cell.tag;
      out.payloads[row] = cell.payload;
    });
    out.dictionary = texts.finish();
  }

  Table assemble() {
    std::size_t width = names_.size(), rows = 0, short_rows = 0, long_rows = 0;
    for (const Piece& piece : pieces_) {
      width = std::max(width, piece.columns.size());
      rows += piece.rows;
      short_rows += piece.short_rows;
      long_rows += piece.long_rows;
    }
    if (open_quote_) notes_.push_back("The file ends inside of a quoted field; its closing quote is missing.");
    if (short_rows > 0)
      notes_.push_back(counted(short_rows, "row has", "rows have") +
                       " fewer fields than the first row; the missing cells are empty.");
    if (long_rows > 0)
      notes_.push_back(counted(long_rows, "row has", "rows have") +
                       " more fields than the first row; they stand in columns of their own.");
    names_.resize(width);
    for (Piece& piece : pieces_) {
      piece.columns.resize(width);
      for (PieceColumn& column : piece.columns) {
        if (column.texts || !column.payloads.empty() || piece.rows == 0) continue;
        column.payloads.resize(piece.rows);
        column.tags.assign(piece.rows, Tag::empty);
        of(column.counts, CellClass::empty) = piece.rows;
      }
    }
    const std::vector<std::string> names = unique_names();
    std::vector<Column> columns(width);
    std::vector<std::vector<std::string>> notes(width);
    settle_types();
    workers_.run(width, [&](std::size_t i) { columns[i] = assemble_column(i, rows, names[i], notes[i]); });
    Table table(rows);
    for (std::size_t i = 0; i < width; ++i) {
      table.add(names[i], std::move(columns[i]));
      notes_.insert(notes_.end(), notes[i].begin(), notes[i].end());
    }
    return table;
  }

  static std::string counted(std::size_t count, const char* one, const char* many) {
    return std::to_string(count) + " " + (count == 1 ? one : many);
  }

  std::vector<std::string> unique_names() {
    Table taken;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      std::string name = names_[i];
      while (!name.empty() && name.front() == ' ') name.erase(0, 1);
      while (!name.empty() && name.back() == ' ') name.pop_back();
      if (name.empty()) name = "Column" + std::to_string(i + 1);
      const std::string free = free_name(taken, name);
      if (free != name)
        notes_.push_back("The header `" + formula::valid_utf8(name) + "` stands there more than once; column " +
                         std::to_string(i + 1) + " is called `" + formula::valid_utf8(free) + "`.");
      taken.add(free, Column());
      names.push_back(free);
    }
    return names;
  }

  // Columns whose later cells say that they are texts after all are read again as such.
  void settle_types() {
    std::vector<std::size_t> again;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      Counts counts{};
      bool texts = false;
      for (const Piece& piece : pieces_) {
        texts |= piece.columns[i].texts;
        for (std::size_t k = 0; k < counts.size(); ++k) counts[k] += piece.columns[i].counts[k];
      }
      if (texts || is_text_column(counts)) again.push_back(i);
    }
    if (again.empty()) return;
    workers_.run(pieces_.size(), [&](std::size_t p) {
      Piece& piece = pieces_[p];
      const auto needs = [&](std::size_t i) { return !piece.columns[i].texts; };
      if (std::none_of(again.begin(), again.end(), needs)) return;
      Fields fields;
      split_fields(piece.text, delimiter_, skip_blank_lines_, kMostTableRows, fields);
      for (const std::size_t i : again) {
        if (needs(i)) read_texts(piece, fields, i);
      }
    });
  }

  Column assemble_column(std::size_t i, std::size_t rows, const std::string& name,
                         std::vector<std::string>& notes) const {
    const bool texts = !pieces_.empty() && pieces_[0].columns[i].texts;
    return texts ? assemble_texts(i, rows, name, notes) : assemble_cells(i, rows, name, notes);
  }

  static std::vector<double> recoded(const PieceColumn& column, DictionaryBuilder& all) {
    std::vector<double> codes(column.dictionary ? column.dictionary->size() : 0);
    for (std::size_t code = 0; code < codes.size(); ++code) codes[code] = all.code(column.dictionary->text(code));
    return codes;
  }

  Column assemble_cells(std::size_t i, std::size_t rows, const std::string& name,
                        std::vector<std::string>& notes) const {
    if (rows == 0) return Column::empties(0);  // of no type: it fits any other
    Buffer<double> payloads(rows);
    Buffer<Tag> tags;
    const bool tagged =
        std::any_of(pieces_.begin(), pieces_.end(), [&](const Piece& piece) { return !piece.columns[i].tags.empty(); });
    if (tagged) tags = Buffer<Tag>(rows);
    DictionaryBuilder all;
    Counts counts{};
    bool grouped = false;
    std::size_t at = 0, first_odd = kMostTableRows;
    std::string odd_text;
    for (const Piece& piece : pieces_) {
      const PieceColumn& column = piece.columns[i];
      grouped |= column.grouped;
      for (std::size_t k = 0; k < counts.size(); ++k) counts[k] += column.counts[k];
      if (texts_of(column.counts) > 0 && first_odd == kMostTableRows) {
        first_odd = at + column.first_odd;
        odd_text = column.dictionary->text(static_cast<std::size_t>(column.payloads[column.first_odd]));
      }
      std::copy(column.payloads.begin(), column.payloads.end(), payloads.data() + at);
      if (tagged) {
        const std::vector<double> codes = recoded(column, all);
        for (std::size_t row = 0; row < piece.rows; ++row) {
          const Tag tag = column.tags.empty() ? Tag::number : column.tags[row];
          tags[at + row] = tag;
          if (tag == Tag::text) payloads[at + row] = codes[static_cast<std::size_t>(column.payloads[row])];
        }
      }
      at += piece.rows;
    }
    const std::string shown = "Column `" + formula::valid_utf8(name) + "`";
    if (grouped) notes.push_back(shown + " has thousands separators in its numbers; they were left out.");
    if (const std::size_t odd = texts_of(counts); odd > 0) {
      notes.push_back(shown + " is almost numeric: " + counted(odd, "cell is", "cells are") +
                      " text, the first in row " + std::to_string(first_odd + 1) + ": \"" +
                      formula::valid_utf8(odd_text.substr(0, 60)) + "\".");
    }
    if (!tagged) return Column::numbers(std::move(payloads));
    // Days with and without a time are one type.
    if (of(counts, CellClass::date) > 0) {
      const auto cells = tags.span();
      if (std::find(cells.begin(), cells.end(), Tag::date_time) != cells.end())
        std::replace(cells.begin(), cells.end(), Tag::date, Tag::date_time);
    }
    return Column::mixed(std::move(tags), std::move(payloads), all.finish());
  }

  Column assemble_texts(std::size_t i, std::size_t rows, const std::string& name,
                        std::vector<std::string>& notes) const {
    DictionaryBuilder all;
    Buffer<std::uint32_t> codes(rows);
    Buffer<std::uint64_t> valid(bitmap_words(rows));
    std::fill_n(valid.data(), valid.size(), std::uint64_t{0});
    bool empties = false;
    std::size_t at = 0;
    for (const Piece& piece : pieces_) {
      const PieceColumn& column = piece.columns[i];
      std::vector<std::uint32_t> map(column.dictionary->size());
      for (std::size_t code = 0; code < map.size(); ++code) map[code] = all.code(column.dictionary->text(code));
      for (const std::uint32_t code : column.codes) {
        const bool there = code != kNoRow;
        empties |= !there;
        codes[at] = there ? map[code] : 0;
        valid[at >> 6] |= std::uint64_t{there} << (at & 63);
        ++at;
      }
    }
    auto dictionary = all.finish();
    if (options_.guess_types) {
      if (auto dates = slash_dates(*dictionary, codes, valid, name, notes)) return std::move(*dates);
    }
    if (dictionary->size() == 0) return Column::empties(rows);
    return Column::texts(std::move(codes), empties ? std::move(valid) : Buffer<std::uint64_t>(), std::move(dictionary));
  }

  // 31/01/2026 throughout, or 01/31/2026 throughout, and at least one day beyond 12 to tell.
  static std::optional<Column> slash_dates(const Dictionary& dictionary, const Buffer<std::uint32_t>& codes,
                                           Buffer<std::uint64_t>& valid, const std::string& name,
                                           std::vector<std::string>& notes) {
    if (dictionary.size() == 0) return std::nullopt;
    bool day_first = true, month_first = true;
    std::vector<double> day_serials, month_serials;
    for (std::size_t code = 0; code < dictionary.size(); ++code) {
      const auto date = slash_date(dictionary.text(code));
      if (!date) return std::nullopt;
      const auto by_day = serial_of(date->year, date->second, date->first);
      const auto by_month = serial_of(date->year, date->first, date->second);
      day_first &= by_day.has_value();
      month_first &= by_month.has_value();
      day_serials.push_back(by_day.value_or(0));
      month_serials.push_back(by_month.value_or(0));
    }
    const std::string shown = "Column `" + formula::valid_utf8(name) + "`";
    if (day_first == month_first) {
      notes.push_back(
          shown + (day_first ? " has dates that do not show whether the day or the month comes first; they stay text."
                             : " has dates with the day first and dates with the month first; they stay text."));
      return std::nullopt;
    }
    notes.push_back(
        shown + (day_first ? " was read as dates with the day first." : " was read as dates with the month first."));
    const std::vector<double>& serials = day_first ? day_serials : month_serials;
    Buffer<double> cells(codes.size());
    bool empties = false;
    for (std::size_t row = 0; row < codes.size(); ++row) {
      cells[row] = serials[codes[row]];
      empties |= (valid[row >> 6] >> (row & 63) & 1) == 0;
    }
    return Column::numbers(std::move(cells), empties ? std::move(valid) : Buffer<std::uint64_t>(),
                           formula::NumberKind::date);
  }

  const CsvOptions& options_;
  Workers& workers_;
  std::string storage_;
  std::vector<std::string> notes_;
  std::string_view text_;
  char delimiter_ = ',';
  char decimal_ = '.';
  std::size_t body_ = 0;
  bool skip_blank_lines_ = true;
  std::vector<std::string> names_;
  std::vector<bool> surely_text_;
  std::vector<Piece> pieces_;
  std::atomic<bool> open_quote_ = false;
};

}  // namespace

CsvResult read_csv(std::string_view bytes, const CsvOptions& options, Workers& workers) {
  return Reader(bytes, options, workers).read();
}

}  // namespace glmhost::table
