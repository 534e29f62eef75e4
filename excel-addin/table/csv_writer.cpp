#include "excel-addin/table/csv_writer.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "excel-addin/formula/number_format.h"
#include "excel-addin/formula/number_text.h"
#include "excel-addin/formula/text_units.h"

namespace glmhost::table {
namespace {

void append_number(std::string& out, double number) {
  constexpr double kMostWhole = 1e15;
  char text[40];
  const bool whole = std::abs(number) < kMostWhole && number == std::floor(number);
  const auto [end, error] = whole ? std::to_chars(text, text + sizeof text, static_cast<std::int64_t>(number))
                                  : std::to_chars(text, text + sizeof text, number);
  out.append(text, end);
}

bool needs_quotes(std::string_view text) {
  if (text.empty() || text.front() == ' ' || text.back() == ' ') return true;
  return text.find_first_of(",\"\r\n") != std::string_view::npos;
}

void append_text(std::string& out, std::string_view text) {
  const std::string valid = formula::valid_utf8(text);
  if (!needs_quotes(valid)) {
    out += valid;
    return;
  }
  out += '"';
  for (const char c : valid) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

std::string_view format_of(formula::NumberKind kind) {
  if (kind == formula::NumberKind::date) return "yyyy-mm-dd";
  return kind == formula::NumberKind::time ? "hh:mm:ss" : "yyyy-mm-dd hh:mm:ss";
}

void append_kind(std::string& out, double number, formula::NumberKind kind) {
  if (kind != formula::NumberKind::plain) {
    const formula::Value shown = formula::formatted(formula::Value(number, kind), format_of(kind));
    if (shown.is_text()) {
      out += shown.text();
      return;
    }
  }
  append_number(out, number);
}

// The texts of a dictionary are made fit for CSV once.
struct Prepared {
  const Column* column;
  std::vector<std::string> texts;
};

void append_cell(std::string& out, const Prepared& prepared, std::size_t row) {
  const Column& column = *prepared.column;
  switch (const Tag tag = column.tag(row); tag) {
    case Tag::empty:
      return;
    case Tag::text: {
      const auto code =
          column.type() == ColumnType::text ? column.codes()[row] : static_cast<std::uint32_t>(column.payloads()[row]);
      if (prepared.texts.empty()) {
        append_text(out, column.dictionary()->text(code));
      } else {
        out += prepared.texts[code];
      }
      return;
    }
    case Tag::boolean:
    case Tag::error: {
      const formula::Value value = column.value(row);
      out += tag == Tag::error ? formula::error_name(value.error()) : value.boolean() ? "TRUE" : "FALSE";
      return;
    }
    default:
      append_kind(out, column.type() == ColumnType::number ? column.numbers()[row] : column.payloads()[row],
                  kind_of(tag));
  }
}

}  // namespace

void write_csv(const Table& table, Workers& workers, const std::function<void(std::string_view)>& write) {
  std::string header;
  for (std::size_t i = 0; i < table.width(); ++i) {
    if (i > 0) header += ',';
    append_text(header, table.name(i));
  }
  header += '\n';
  write(header);
  std::vector<Prepared> columns(table.width());
  for (std::size_t i = 0; i < columns.size(); ++i) columns[i].column = &table.column(i, workers);
  workers.run(columns.size(), [&](std::size_t i) {
    const auto& dictionary = columns[i].column->dictionary();
    if (!dictionary || dictionary->size() > table.rows()) return;
    for (std::size_t code = 0; code < dictionary->size(); ++code)
      append_text(columns[i].texts.emplace_back(), dictionary->text(code));
  });
  const std::size_t blocks = (table.rows() + Workers::kBlockRows - 1) / Workers::kBlockRows;
  constexpr std::size_t kAtOnce = 64;  // so that only a part of a large text is in memory
  for (std::size_t first = 0; first < blocks; first += kAtOnce) {
    std::vector<std::string> texts(std::min(kAtOnce, blocks - first));
    workers.run(texts.size(), [&](std::size_t i) {
      const std::size_t begin = (first + i) * Workers::kBlockRows,
                        end = std::min(table.rows(), begin + Workers::kBlockRows);
      std::string& out = texts[i];
      for (std::size_t row = begin; row < end; ++row) {
        for (std::size_t c = 0; c < columns.size(); ++c) {
          if (c > 0) out += ',';
          append_cell(out, columns[c], row);
        }
        out += '\n';
      }
    });
    for (const std::string& text : texts) write(text);
  }
}

std::string shown_text(const formula::Value& value) {
  switch (value.type()) {
    case formula::Type::number: {
      if (value.kind() == formula::NumberKind::plain) return formula::number_to_text(value.number());
      std::string text;
      append_kind(text, value.number(), value.kind());
      return text;
    }
    case formula::Type::text:
      return formula::valid_utf8(value.text());
    case formula::Type::boolean:
      return value.boolean() ? "TRUE" : "FALSE";
    case formula::Type::error:
      return std::string(formula::error_name(value.error()));
    default:
      return "";
  }
}

}  // namespace glmhost::table
