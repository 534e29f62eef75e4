#include "excel-addin/table/xlsx_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "excel-addin/formula/cell_address.h"
#include "excel-addin/formula/error_code.h"
#include "excel-addin/formula/number_format.h"
#include "excel-addin/formula/text_units.h"
#include "excel-addin/table/cell_guess.h"
#include "excel-addin/table/csv_writer.h"
#include "excel-addin/table/table_error.h"
#include "excel-addin/table/xml_reader.h"
#include "excel-addin/table/zip_archive.h"

namespace glmhost::table {
namespace {

using formula::Value;

constexpr double kDaysTo1904 = 1462;

std::optional<double> number_of(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number)) return std::nullopt;
  return number;
}

std::size_t count_of(std::string_view text) {
  std::size_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

bool is_yes(std::string_view text) {
  return text == "1" || text == "true";
}

// _x001F_ stands for a character that XML has not.
std::string unescaped(const std::string& text) {
  if (text.find("_x") == std::string::npos) return text;
  std::u16string units;
  const std::u16string all = formula::to_utf16(text);
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::uint32_t code = 0;
    bool escape = all.size() - i >= 7 && all[i] == u'_' && all[i + 1] == u'x' && all[i + 6] == u'_';
    for (std::size_t k = i + 2; escape && k < i + 6; ++k) {
      const char16_t c = all[k];
      const bool digit = c >= u'0' && c <= u'9';
      const char16_t letter = c | 0x20;
      escape = digit || (letter >= u'a' && letter <= u'f');
      code = code << 4 | static_cast<std::uint32_t>(digit ? c - u'0' : letter - u'a' + 10);
    }
    units += escape ? static_cast<char16_t>(code) : all[i];
    if (escape) i += 6;
  }
  return formula::from_utf16(units);
}

// "../media/x" and "/xl/x" seen from a folder.
std::string resolved(const std::string& folder, std::string_view target) {
  std::string path = target.starts_with('/') ? std::string(target.substr(1)) : folder + std::string(target);
  for (std::size_t up = path.find("../"); up != std::string::npos; up = path.find("../")) {
    const std::size_t parent = up < 2 ? std::string::npos : path.rfind('/', up - 2);
    path.erase(parent == std::string::npos ? 0 : parent + 1, up + 3 - (parent == std::string::npos ? 0 : parent + 1));
  }
  return path;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

void read_xml(const ZipReader& zip, const std::string& part, XmlReader::Begin begin, XmlReader::End end = {},
              XmlReader::Text text = {}) {
  XmlReader reader(
      std::move(begin), end ? std::move(end) : [](std::string_view) {},
      text ? std::move(text) : [](std::string_view) {});
  zip.read(part, [&](std::string_view piece) {
    reader.feed(piece);
    return true;
  });
  reader.finish();
}

struct Relation {
  std::string type, target;  // the last word of the type; the path of the part
};

// By id. The relations of xl/workbook.xml stand in xl/_rels/workbook.xml.rels.
std::map<std::string, Relation> relations_of(const ZipReader& zip, const std::string& part) {
  const std::string folder = folder_of(part);
  const std::string file = folder + "_rels/" + part.substr(folder.size()) + ".rels";
  std::map<std::string, Relation> result;
  if (!zip.has(file)) return result;
  read_xml(zip, file, [&](std::string_view name, const XmlAttributes& attributes) {
    if (name != "Relationship" || attributes["TargetMode"] == "External") return;
    const std::string_view type = attributes["Type"];
    result[std::string(attributes["Id"])] = {std::string(type.substr(type.rfind('/') + 1)),
                                             resolved(folder, attributes["Target"])};
  });
  return result;
}

std::optional<std::string> related(const std::map<std::string, Relation>& relations, std::string_view type) {
  for (const auto& [id, relation] : relations) {
    if (relation.type == type) return relation.target;
  }
  return std::nullopt;
}

struct Sheet {
  std::string name, part;
  bool hidden = false;
};

struct Workbook {
  std::vector<Sheet> sheets;
  bool from_1904 = false;
  std::optional<std::string> strings, styles;
};

Workbook workbook_of(const ZipReader& zip) {
  const std::string part = related(relations_of(zip, ""), "officeDocument").value_or("xl/workbook.xml");
  if (!zip.has(part)) throw TableError("This ZIP file is no workbook: it has no part `" + part + "`.");
  const auto relations = relations_of(zip, part);
  Workbook result;
  result.strings = related(relations, "sharedStrings");
  result.styles = related(relations, "styles");
  read_xml(zip, part, [&](std::string_view name, const XmlAttributes& attributes) {
    if (name == "workbookPr") result.from_1904 = is_yes(attributes["date1904"]);
    if (name != "sheet") return;
    const auto relation = relations.find(std::string(attributes["id"]));
    if (relation == relations.end() || relation->second.type != "worksheet") return;  // a sheet that is a chart
    const std::string_view state = attributes["state"];
    result.sheets.push_back(
        {std::string(attributes["name"]), relation->second.target, !state.empty() && state != "visible"});
  });
  return result;
}

const Sheet& sheet_named(const Workbook& workbook, const std::string& name) {
  if (workbook.sheets.empty()) throw TableError("The workbook has no sheet with cells.");
  std::vector<std::string_view> names;
  std::string list;
  for (const Sheet& sheet : workbook.sheets) {
    if (name.empty() ? !sheet.hidden : formula::equal_without_case(sheet.name, name)) return sheet;
    names.push_back(sheet.name);
    list += (list.empty() ? "`" : ", `") + formula::valid_utf8(sheet.name) + "`";
  }
  if (name.empty()) return workbook.sheets[0];
  throw TableError("There is no sheet `" + formula::valid_utf8(name) + "`. The sheets are " + list + ".");
}

// Texts that cells name by number. Phonetic guides (rPh) are no part of them.
std::vector<std::string> strings_of(const ZipReader& zip, const std::string& part) {
  std::vector<std::string> strings;
  std::string text;
  bool in_text = false;
  int phonetic = 0;
  read_xml(
      zip, part,
      [&](std::string_view name, const XmlAttributes&) {
        if (name == "si") text.clear();
        if (name == "rPh") ++phonetic;
        in_text = name == "t" && phonetic == 0;
      },
      [&](std::string_view name) {
        if (name == "rPh") --phonetic;
        if (name == "t") in_text = false;
        if (name == "si") strings.push_back(unescaped(text));
      },
      [&](std::string_view piece) {
        if (in_text) text += piece;
      });
  return strings;
}

// Of a format's letters: a day, a time, both, or none.
Tag tag_of_format(std::string_view code) {
  const auto sections = formula::parse_format(code);
  if (!sections || sections->empty() || !sections->front().is_date) return Tag::number;
  bool day = false, time = false;
  for (const formula::FormatToken& token : sections->front().tokens) {
    time |= token.kind == formula::FormatToken::Kind::elapsed;
    if (token.kind != formula::FormatToken::Kind::date) continue;
    day |= token.sign == 'y' || token.sign == 'd' || token.sign == 'm';
    time |= token.sign == 'h' || token.sign == 's';
  }
  if (day && time) return Tag::date_time;
  return time ? Tag::time : Tag::date;
}

// ECMA-376, 18.8.30: the formats that every workbook has, the East Asian ones included.
Tag tag_of_builtin(std::size_t id) {
  if ((id >= 14 && id <= 17) || (id >= 27 && id <= 31) || id == 36 || (id >= 50 && id <= 58)) return Tag::date;
  if ((id >= 18 && id <= 21) || (id >= 32 && id <= 35) || (id >= 45 && id <= 47)) return Tag::time;
  return id == 22 ? Tag::date_time : Tag::number;
}

// What a number under each cell format is.
std::vector<Tag> styles_of(const ZipReader& zip, const std::string& part) {
  std::map<std::size_t, Tag> formats;
  std::vector<Tag> styles;
  bool inside = false;
  read_xml(
      zip, part,
      [&](std::string_view name, const XmlAttributes& attributes) {
        if (name == "numFmt") formats[count_of(attributes["numFmtId"])] = tag_of_format(attributes["formatCode"]);
        if (name == "cellXfs") inside = true;
        if (name != "xf" || !inside) return;
        const std::size_t id = count_of(attributes["numFmtId"]);
        const auto known = formats.find(id);
        styles.push_back(known != formats.end() ? known->second : tag_of_builtin(id));
      },
      [&](std::string_view name) {
        if (name == "cellXfs") inside = false;
      });
  return styles;
}

class SheetReader {
 public:
  SheetReader(const Workbook& workbook, std::vector<std::string> strings, std::vector<Tag> styles,
              const XlsxOptions& options, Workers& workers)
      : workbook_(workbook),
        strings_(std::move(strings)),
        styles_(std::move(styles)),
        options_(options),
        workers_(workers) {}

  void read(const ZipReader& zip, const std::string& part) {
    read_xml(
        zip, part, [&](std::string_view name, const XmlAttributes& attributes) { begin(name, attributes); },
        [&](std::string_view name) { end(name); },
        [&](std::string_view piece) {
          if (in_text_) text_ += piece;
        });
  }

  XlsxResult finish() {
    XlsxResult result;
    std::size_t width = std::max(names_.size(), columns_.size());
    result.table = Table(rows_);
    std::vector<std::string> notes;
    for (std::size_t i = 0; i < width; ++i) {
      std::string name = i < names_.size() ? names_[i] : "";
      const bool has_cells = i < columns_.size() && columns_[i].cells.rows() > 0;
      if (name.empty() && !has_cells) continue;  // a margin
      if (name.empty()) name = "Column" + std::to_string(i + 1);
      const std::string free = free_name(result.table, name);
      if (free != name) {
        notes.push_back("The header `" + formula::valid_utf8(name) + "` stands there more than once; column " +
                        std::to_string(i + 1) + " is called `" + formula::valid_utf8(free) + "`.");
      }
      Column column = Column::empties(rows_);
      if (has_cells) {
        pad(columns_[i].cells, rows_);
        column = columns_[i].cells.finish();
        const SheetColumn& sheet = columns_[i];
        if (sheet.texts > 0 && sheet.numbers > sheet.texts) {
          notes.push_back("Column `" + formula::valid_utf8(free) + "` is almost numeric: " +
                          std::to_string(sheet.texts) + (sheet.texts == 1 ? " cell is" : " cells are") +
                          " text, the first in " + address(sheet.first_text_row, i) + ".");
        }
      }
      result.table.add(free, std::move(column));
    }
    if (merged_ > 0) {
      notes.push_back("The sheet has " + std::to_string(merged_) + (merged_ == 1 ? " merged area" : " merged areas") +
                      " among its rows, the first " + first_merged_ +
                      "; the value is in the first cell, the others are empty. `fill down` puts it into each.");
    }
    if (unsaved_ > 0) {
      notes.push_back(std::to_string(unsaved_) + (unsaved_ == 1 ? " formula has" : " formulas have") +
                      " no saved value and stay empty: open the workbook in Excel and save it.");
    }
    result.notes = std::move(notes);
    return result;
  }

 private:
  struct SheetColumn {
    ColumnBuilder cells;
    std::size_t numbers = 0, texts = 0, first_text_row = 0;
  };
  struct CellValue {
    std::size_t column;
    Value value;
  };

  static std::string address(std::size_t row, std::size_t column) {
    return formula::column_letters(static_cast<std::uint32_t>(column)) + std::to_string(row + 1);
  }

  static void pad(ColumnBuilder& builder, std::size_t rows) {
    while (builder.rows() < rows) builder.add(Tag::empty, 0);
  }

  [[noreturn]] static void outside() {
    throw TableError("The workbook is damaged: a cell lies outside of the sheet's 1,048,576 rows and 16,384 columns.");
  }

  void begin(std::string_view name, const XmlAttributes& attributes) {
    if (name == "row") {
      const std::string_view r = attributes["r"];
      row_ = r.empty() ? next_row_ : count_of(r) - 1;  // a row without a number stands behind the one before
      if (row_ >= formula::kMostRows || row_ < next_row_) outside();
      next_row_ = row_ + 1;
      next_column_ = 0;
      cells_.clear();
    } else if (name == "c") {
      const std::string_view r = attributes["r"];
      column_ = next_column_;
      if (!r.empty()) {
        const auto part = formula::parse_address_part(r);
        if (!part || !part->column) outside();
        column_ = *part->column;
      }
      if (column_ >= formula::kMostColumns || column_ < next_column_) outside();
      next_column_ = column_ + 1;
      type_ = attributes["t"];
      style_ = count_of(attributes["s"]);
      text_.clear();
      has_value_ = has_formula_ = false;
    } else if (name == "v" || name == "is") {
      has_value_ = true;
      in_text_ = name == "v";
    } else if (name == "rPh") {
      ++phonetic_;
    } else if (name == "t") {
      in_text_ = phonetic_ == 0;
    } else if (name == "f") {
      has_formula_ = true;
    } else if (name == "mergeCell") {
      const std::string_view area = attributes["ref"];
      const auto last = formula::parse_address_part(area.substr(std::min(area.size(), area.find(':') + 1)));
      // One above or within the header is no gap in the data.
      if (!last || !last->row || first_row_ >= *last->row) return;
      if (merged_++ == 0) first_merged_ = formula::valid_utf8(area);
    }
  }

  void end(std::string_view name) {
    if (name == "v" || name == "t") {
      in_text_ = false;
    } else if (name == "rPh") {
      --phonetic_;
    } else if (name == "c") {
      if (has_formula_ && !has_value_) ++unsaved_;
      if (has_value_) {
        Value value = cell_value();
        if (!value.is_empty()) cells_.push_back({column_, std::move(value)});
      }
    } else if (name == "row" && !cells_.empty()) {
      finish_row();
    }
  }

  Value cell_value() {
    if (type_ == "s") {
      const auto place = number_of(text_);
      if (!place || *place < 0 || *place >= static_cast<double>(strings_.size()))
        throw TableError("The workbook is damaged: cell " + address(row_, column_) +
                         " names a text that is not there.");
      return Value(strings_[static_cast<std::size_t>(*place)]);
    }
    if (type_ == "str" || type_ == "inlineStr") return Value(unescaped(text_));
    if (type_ == "b") return Value(is_yes(text_));
    if (type_ == "e") {
      const auto error = formula::error_named(text_);
      return Value(error.value_or(formula::ErrorCode::unknown));
    }
    if (type_ == "d") {  // ISO 8601
      std::string text = text_;
      std::ranges::replace(text, 'T', ' ');
      const Cell cell = guessed_cell(text, '.');
      return cell.kind == CellClass::date ? Value(cell.payload, kind_of(cell.tag)) : Value(text_);
    }
    if (text_.empty()) return Value();
    const auto number = number_of(text_);
    if (!number)
      throw TableError("The workbook is damaged: cell " + address(row_, column_) +
                       " holds no number, though it says so.");
    const Tag tag = style_ < styles_.size() ? styles_[style_] : Tag::number;
    const bool counts_on = workbook_.from_1904 && (tag == Tag::date || tag == Tag::date_time);
    return Value(counts_on ? *number + kDaysTo1904 : *number, kind_of(tag));
  }

  void finish_row() {
    if (!met_first_) {
      met_first_ = true;
      first_row_ = row_;
      const auto is_text = [](const CellValue& cell) { return cell.value.is_text(); };
      if (options_.header.value_or(std::ranges::all_of(cells_, is_text))) {
        for (const CellValue& cell : cells_) {
          names_.resize(cell.column + 1);
          std::string& name = names_.back() = shown_text(cell.value);
          while (!name.empty() && name.front() == ' ') name.erase(0, 1);
          while (!name.empty() && name.back() == ' ') name.pop_back();
        }
        return;
      }
    }
    add_row(cells_, row_);
  }

  void add_row(const std::vector<CellValue>& cells, std::size_t sheet_row) {
    if (rows_ % Workers::kBlockRows == 0) workers_.check_cancelled();
    for (const CellValue& cell : cells) {
      if (columns_.size() <= cell.column) columns_.resize(cell.column + 1);
      SheetColumn& column = columns_[cell.column];
      pad(column.cells, rows_);
      if (cell.value.is_text()) {
        column.cells.add_text(cell.value.text());
        if (column.texts++ == 0) column.first_text_row = sheet_row;
      } else {
        column.cells.add(cell.value);
        column.numbers += cell.value.is_number() ? 1 : 0;
      }
    }
    ++rows_;
  }

  const Workbook& workbook_;
  std::vector<std::string> strings_;
  std::vector<Tag> styles_;
  const XlsxOptions& options_;
  Workers& workers_;

  std::size_t row_ = 0, column_ = 0, next_row_ = 0, next_column_ = 0, style_ = 0;
  std::string type_, text_;
  bool in_text_ = false, has_value_ = false, has_formula_ = false;
  int phonetic_ = 0;
  std::vector<CellValue> cells_;
  std::size_t first_row_ = 0, rows_ = 0, merged_ = 0, unsaved_ = 0;
  bool met_first_ = false;
  std::string first_merged_;
  std::vector<std::string> names_;
  std::vector<SheetColumn> columns_;
};

}  // namespace

XlsxResult read_xlsx(std::string_view bytes, const XlsxOptions& options, Workers& workers) {
  constexpr std::string_view kCompound = "\xD0\xCF\x11\xE0";  // OLE: old workbooks, and new ones under a password
  if (bytes.starts_with(kCompound))
    throw TableError("This is an old workbook (.xls) or one with a password. Save it as .xlsx, without a password.");
  const ZipReader zip(bytes);
  const Workbook workbook = workbook_of(zip);
  const Sheet& sheet = sheet_named(workbook, options.sheet);
  SheetReader reader(workbook, workbook.strings ? strings_of(zip, *workbook.strings) : std::vector<std::string>(),
                     workbook.styles ? styles_of(zip, *workbook.styles) : std::vector<Tag>(), options, workers);
  reader.read(zip, sheet.part);
  return reader.finish();
}

}  // namespace glmhost::table
