#include "excel-addin/table/xlsx_writer.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "excel-addin/formula/cell_address.h"
#include "excel-addin/formula/text_units.h"
#include "excel-addin/table/csv_writer.h"
#include "excel-addin/table/table_error.h"
#include "excel-addin/table/zip_archive.h"

namespace glmhost::table {
namespace {

constexpr std::string_view kDeclaration = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n";
constexpr std::string_view kTypes =
    R"(<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/><Override PartName="/xl/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"/><Override PartName="/xl/sharedStrings.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"/></Types>)";
constexpr std::string_view kRelations =
    R"(<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>)";
constexpr std::string_view kWorkbook =
    R"(<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="Result" sheetId="1" r:id="rId1"/></sheets></workbook>)";
constexpr std::string_view kWorkbookRelations =
    R"(<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/><Relationship Id="rId3" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings" Target="sharedStrings.xml"/></Relationships>)";
// The cell formats by their places: general, day, time, day and time, header.
constexpr std::string_view kStyles =
    R"(<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><numFmts count="3"><numFmt numFmtId="164" formatCode="yyyy\-mm\-dd"/><numFmt numFmtId="165" formatCode="hh:mm:ss"/><numFmt numFmtId="166" formatCode="yyyy\-mm\-dd\ hh:mm:ss"/></numFmts><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="5"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/><xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="165" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="166" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/></cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>)";
constexpr std::string_view kMain = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
constexpr std::string_view kHeaderStyle = "4";

std::string_view style_of(Tag tag) {
  switch (tag) {
    case Tag::date:
      return " s=\"1\"";
    case Tag::time:
      return " s=\"2\"";
    case Tag::date_time:
      return " s=\"3\"";
    default:
      return "";
  }
}

bool is_escape(std::string_view text, std::size_t at) {
  if (text.size() - at < 7 || text[at] != '_' || text[at + 1] != 'x' || text[at + 6] != '_') return false;
  return std::all_of(text.begin() + static_cast<std::ptrdiff_t>(at) + 2,
                     text.begin() + static_cast<std::ptrdiff_t>(at) + 6,
                     [](unsigned char c) { return std::isxdigit(c) != 0; });
}

// XML has no control characters; a workbook writes them as _x001F_, and what only looks so as _x005F_x001F_.
void append_escaped(std::string& out, std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c < 0x20 && c != '\n' && c != '\t') {
      constexpr const char* kDigits = "0123456789ABCDEF";
      out += "_x00";
      out += kDigits[c >> 4];
      out += kDigits[c & 15];
      out += '_';
    } else if (is_escape(text, i)) {
      out += "_x005F_";
    } else if (text.substr(i, 3) == "\xEF\xBF\xBE" || text.substr(i, 3) == "\xEF\xBF\xBF") {
      out += "\xEF\xBF\xBD";  // U+FFFE and U+FFFF are no characters of XML
      i += 2;
    } else {
      out += text[i];
    }
  }
}

void append_number(std::string& out, double number) {
  char text[40];
  const auto [end, error] = std::to_chars(text, text + sizeof text, number);
  out.append(text, end);
}

class Writer {
 public:
  Writer(const Table& table, Workers& workers, const std::function<void(std::string_view)>& write)
      : table_(table), workers_(workers), zip_(write) {}

  void run() {
    if (table_.rows() >= formula::kMostRows || table_.width() > kMostColumns) {
      throw TableError(
          "The result has " + std::to_string(table_.rows()) + " rows and " + std::to_string(table_.width()) +
          " columns; a sheet holds 1,048,575 rows beside its header, and 16,384 columns. Write a CSV file, "
          "or use take, filter or group.");
    }
    part("[Content_Types].xml", kTypes);
    part("_rels/.rels", kRelations);
    part("xl/workbook.xml", kWorkbook);
    part("xl/_rels/workbook.xml.rels", kWorkbookRelations);
    part("xl/styles.xml", kStyles);
    sheet();
    strings();
    zip_.finish();
  }

 private:
  void part(const char* name, std::string_view content) {
    zip_.begin(name);
    zip_.add(kDeclaration);
    zip_.add(content);
    zip_.end();
  }

  std::size_t string(std::string_view text) {
    ++uses_;
    return texts_.code(text);
  }

  void append_text(std::size_t row, std::size_t column, std::string_view text, std::string_view style) {
    constexpr std::size_t kMostText = 32'767;  // UTF-16 units
    if (text.size() > kMostText && formula::length_in_units(text) > kMostText) {
      throw TableError(
          "The text in row " + std::to_string(row) + " of column `" + formula::valid_utf8(table_.name(column)) +
          "` is longer than the 32,767 characters that a cell holds. Write a CSV file, or cut it with LEFT().");
    }
    out_ += "<c r=\"" + letters_[column] + std::to_string(row + 1) + "\" t=\"s\"";
    out_ += style;
    out_ += "><v>" + std::to_string(string(text)) + "</v></c>";
  }

  void append_cell(std::size_t row, std::size_t i, const Column& column) {
    const Tag tag = column.tag(row);
    if (tag == Tag::empty) return;
    if (tag == Tag::text) {
      const auto code =
          column.type() == ColumnType::text ? column.codes()[row] : static_cast<std::uint32_t>(column.payloads()[row]);
      append_text(row + 1, i, column.dictionary()->text(code), "");
      return;
    }
    out_ += "<c r=\"" + letters_[i] + std::to_string(row + 2) + "\"";
    if (is_number(tag)) {
      const double number = column.type() == ColumnType::number ? column.numbers()[row] : column.payloads()[row];
      if (std::isfinite(number)) {
        out_ += style_of(tag);
        out_ += "><v>";
        append_number(out_, number);
      } else {
        out_ += " t=\"e\"><v>#NUM!";
      }
    } else if (tag == Tag::boolean) {
      out_ += " t=\"b\"><v>";
      out_ += column.value(row).boolean() ? '1' : '0';
    } else {
      out_ += " t=\"e\"><v>";
      out_ += formula::error_name(column.value(row).error());
    }
    out_ += "</v></c>";
  }

  // As wide as the first rows need: a date in a narrow column shows as #####.
  std::string widths() {
    constexpr std::size_t kLooked = 200, kLeast = 9, kMost = 60;
    std::string result = "<cols>";
    for (std::size_t i = 0; i < table_.width(); ++i) {
      std::size_t width = std::max(kLeast, formula::length_in_units(table_.name(i)));
      const Column& column = table_.column(i, workers_);
      for (std::size_t row = 0; row < std::min(table_.rows(), kLooked); ++row)
        width = std::max(width, formula::length_in_units(shown_text(column.value(row))));
      const std::string place = std::to_string(i + 1);
      result += "<col min=\"" + place + "\" max=\"" + place + "\" width=\"" +
                std::to_string(std::min(width, kMost) + 2) + "\" customWidth=\"1\"/>";
    }
    return table_.width() == 0 ? "" : result + "</cols>";
  }

  void sheet() {
    zip_.begin("xl/worksheets/sheet1.xml");
    out_ = kDeclaration;
    out_ += "<worksheet xmlns=\"" + std::string(kMain) +
            "\"><sheetViews><sheetView workbookViewId=\"0\"><pane ySplit=\"1\" topLeftCell=\"A2\" "
            "activePane=\"bottomLeft\" state=\"frozen\"/></sheetView></sheetViews>" +
            widths() + "<sheetData>";
    std::vector<Column> columns;
    for (std::size_t i = 0; i < table_.width(); ++i) {
      letters_.push_back(formula::column_letters(static_cast<std::uint32_t>(i)));
      columns.push_back(table_.column(i, workers_));
    }
    out_ += "<row r=\"1\">";
    for (std::size_t i = 0; i < table_.width(); ++i)
      append_text(0, i, formula::valid_utf8(table_.name(i)), " s=\"" + std::string(kHeaderStyle) + "\"");
    out_ += "</row>";
    constexpr std::size_t kAtOnce = 1 << 20;
    for (std::size_t row = 0; row < table_.rows(); ++row) {
      out_ += "<row r=\"" + std::to_string(row + 2) + "\">";
      for (std::size_t i = 0; i < columns.size(); ++i) append_cell(row, i, columns[i]);
      out_ += "</row>";
      if (out_.size() < kAtOnce) continue;
      workers_.check_cancelled();
      zip_.add(out_);
      out_.clear();
    }
    zip_.add(out_ + "</sheetData></worksheet>");
    zip_.end();
  }

  void strings() {
    zip_.begin("xl/sharedStrings.xml");
    out_ = kDeclaration;
    out_ += "<sst xmlns=\"" + std::string(kMain) + "\" count=\"" + std::to_string(uses_) + "\" uniqueCount=\"" +
            std::to_string(texts_.size()) + "\">";
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      out_ += "<si><t xml:space=\"preserve\">";
      append_escaped(out_, formula::valid_utf8(texts_.text(i)));
      out_ += "</t></si>";
      constexpr std::size_t kAtOnce = 1 << 20;
      if (out_.size() < kAtOnce) continue;
      zip_.add(out_);
      out_.clear();
    }
    zip_.add(out_ + "</sst>");
    zip_.end();
  }

  const Table& table_;
  Workers& workers_;
  ZipWriter zip_;
  std::string out_;
  std::vector<std::string> letters_;
  DictionaryBuilder texts_;
  std::size_t uses_ = 0;
};

}  // namespace

void write_xlsx(const Table& table, Workers& workers, const std::function<void(std::string_view)>& write) {
  Writer(table, workers, write).run();
}

}  // namespace glmhost::table
