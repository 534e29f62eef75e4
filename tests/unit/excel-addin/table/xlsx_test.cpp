// Workbooks in and out. What is read here was put together by hand, part by part; that others read what we write is
// tested end to end.
#include <doctest/doctest.h>

#include <random>

#include "excel-addin/table/xlsx_reader.h"
#include "excel-addin/table/xlsx_writer.h"
#include "excel-addin/table/zip_archive.h"
#include "tests/unit/excel-addin/table/tables.h"

using namespace glmhost::table;

namespace {

using Parts = std::vector<std::pair<std::string, std::string>>;

std::string zipped(const Parts& parts) {
  std::string bytes;
  ZipWriter zip([&](std::string_view piece) { bytes += piece; });
  for (const auto& [name, content] : parts) {
    zip.begin(name);
    zip.add(content);
    zip.end();
  }
  zip.finish();
  return bytes;
}

constexpr const char* kRelationships = "<Relationships xmlns=\"r\">";

// A workbook with a hidden sheet, and the sheet `Data` of these rows.
std::string workbook(const std::string& sheet_data, const std::string& behind = "",
                     const std::string& properties = "") {
  const std::string type = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/";
  return zipped({
      {"_rels/.rels", kRelationships + ("<Relationship Id=\"a\" Type=\"" + type +
                                        "officeDocument\" Target=\"/xl/workbook.xml\"/></Relationships>")},
      {"xl/workbook.xml", "<x:workbook xmlns:x=\"m\" xmlns:r=\"q\">" + properties +
                              "<x:sheets><x:sheet name=\"Old\" state=\"hidden\" r:id=\"r2\"/>"
                              "<x:sheet name=\"Data\" r:id=\"r1\"/></x:sheets></x:workbook>"},
      {"xl/_rels/workbook.xml.rels",
       kRelationships + ("<Relationship Id=\"r1\" Type=\"" + type + "worksheet\" Target=\"worksheets/data.xml\"/>" +
                         "<Relationship Id=\"r2\" Type=\"" + type + "worksheet\" Target=\"../xl/old.xml\"/>" +
                         "<Relationship Id=\"s\" Type=\"" + type + "sharedStrings\" Target=\"Strings.xml\"/>" +
                         "<Relationship Id=\"t\" Type=\"" + type + "styles\" Target=\"styles.xml\"/></Relationships>")},
      {"xl/strings.xml",
       "<sst xmlns=\"m\"><si><t>plain</t></si><si><r><t xml:space=\"preserve\">rich "
       "</t></r><r><rPr><b/></rPr><t>text</t></r>"
       "<rPh sb=\"0\" eb=\"1\"><t>no</t></rPh></si><si><t>a_x000D_b_x005F_x0041_</t></si></sst>"},
      {"xl/styles.xml",
       "<styleSheet xmlns=\"m\"><numFmts><numFmt numFmtId=\"170\" formatCode=\"[$-407]d. mmm &quot;h&quot; yyyy\"/>"
       "<numFmt numFmtId=\"171\" formatCode=\"[h]:mm\"/><numFmt numFmtId=\"172\" formatCode=\"0.00&quot; "
       "days&quot;\"/></numFmts>"
       "<cellStyleXfs><xf numFmtId=\"14\"/></cellStyleXfs><cellXfs><xf numFmtId=\"0\"/><xf numFmtId=\"14\"/><xf "
       "numFmtId=\"22\"/>"
       "<xf numFmtId=\"170\"/><xf numFmtId=\"171\"/><xf numFmtId=\"172\"/></cellXfs></styleSheet>"},
      {"xl/old.xml", "<worksheet xmlns=\"m\"><sheetData><row><c><v>7</v></c></row></sheetData></worksheet>"},
      {"xl/worksheets/data.xml",
       "<worksheet xmlns=\"m\"><sheetData>" + sheet_data + "</sheetData>" + behind + "</worksheet>"},
  });
}

struct Sheet {
  std::string csv;
  std::vector<std::string> notes;
};

Sheet sheet_of(const std::string& bytes, const XlsxOptions& options = {}) {
  Workers workers(2);
  XlsxResult result = read_xlsx(bytes, options, workers);
  return {csv_of(result.table, workers), std::move(result.notes)};
}

std::string refusal(const std::string& bytes, const XlsxOptions& options = {}) {
  try {
    sheet_of(bytes, options);
  } catch (const TableError& error) {
    return error.what();
  }
  return {};
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("cells have the types that the workbook gives them") {
  const std::string bytes = workbook(
      "<row r=\"3\"><c r=\"B3\" t=\"inlineStr\"><is><t>kind</t></is></c><c t=\"s\"><v>0</v></c></row>"
      "<row r=\"5\"><c r=\"B5\" t=\"s\"><v>1</v></c><c r=\"C5\"><v>1.5</v></c></row>"
      "<row><c r=\"B6\" t=\"s\"><v>2</v></c><c r=\"C6\" s=\"1\"><v>46027</v></c></row>"
      "<row><c r=\"B7\" t=\"str\"><f>A1</f><v>f</v></c><c r=\"C7\" s=\"2\"><v>46027.5</v></c></row>"
      "<row><c r=\"B8\" t=\"b\"><v>1</v></c><c r=\"C8\" s=\"3\"><v>46027</v></c></row>"
      "<row><c r=\"B9\" t=\"e\"><v>#DIV/0!</v></c><c r=\"C9\" s=\"4\"><v>0.25</v></c></row>"
      "<row><c r=\"B10\" t=\"d\"><v>2026-01-05T12:00:00</v></c><c r=\"C10\" s=\"5\"><v>2</v></c></row>"
      "<row><c r=\"B11\" s=\"1\"/><c r=\"C11\"><f>B1</f></c><c r=\"E11\"><v>1E3</v></c></row>");
  const Sheet sheet = sheet_of(bytes);
  CHECK(sheet.csv ==
        "kind,plain,Column5\nrich text,1.5,\n\"a\rb_x0041_\",2026-01-05,\nf,2026-01-05 12:00:00,\nTRUE,2026-01-05,\n"
        "#DIV/0!,06:00:00,\n2026-01-05 12:00:00,2,\n,,1000\n");
  REQUIRE(sheet.notes.size() == 1);
  CHECK(contains(sheet.notes[0], "1 formula has no saved value"));
  CHECK(sheet_of(bytes, {"OLD", {}}).csv == "Column1\n7\n");
  CHECK(contains(refusal(bytes, {"new", {}}), "no sheet `new`. The sheets are `Old`, `Data`."));
  CHECK(contains(sheet_of(bytes, {"", false}).csv, "Column2,Column3,Column5\nkind,plain,\n"));
}

TEST_CASE("dates of a workbook from 1904 are counted on") {
  CHECK(
      sheet_of(workbook("<row><c s=\"1\"><v>0</v></c><c><v>0</v></c></row>", "", "<workbookPr date1904=\"1\"/>")).csv ==
      "Column1,Column2\n1904-01-01,0\n");
}

TEST_CASE("what is unusual in a sheet is said") {
  const Sheet sheet =
      sheet_of(workbook("<row><c t=\"str\"><v>n</v></c><c "
                        "t=\"str\"><v>n</v></c></row><row><c><v>1</v></c></row><row><c><v>2</v></c></row>"
                        "<row><c t=\"str\"><v>x</v></c></row>",
                        "<mergeCells><mergeCell ref=\"A1:B1\"/><mergeCell ref=\"A2:A3\"/></mergeCells>"));
  CHECK(sheet.csv == "n,n_2\n1,\n2,\nx,\n");
  REQUIRE(sheet.notes.size() == 3);
  CHECK(contains(sheet.notes[1], "stands there more than once"));
  CHECK(contains(sheet.notes[0], "1 cell is text, the first in A4"));
  CHECK(contains(sheet.notes[2], "1 merged area among its rows, the first A2:A3"));
}

TEST_CASE("what is no sound workbook is refused with a sentence") {
  const std::string good = workbook("<row><c><v>1</v></c></row>");
  CHECK(contains(refusal("PK\x03\x04rest"), "does not hold together"));
  CHECK(contains(refusal("\xD0\xCF\x11\xE0old"), "without a password"));
  CHECK(contains(refusal(zipped({{"a", "b"}})), "is no workbook"));
  CHECK(contains(refusal(workbook("<row><c t=\"s\"><v>3</v></c></row>")), "cell A1 names a text that is not there"));
  CHECK(contains(refusal(workbook("<row><c><v>x</v></c></row>")), "holds no number"));
  CHECK(contains(refusal(workbook("<row r=\"1048577\"><c><v>1</v></c></row>")), "outside of the sheet"));
  CHECK(contains(refusal(workbook("<row r=\"0\"><c><v>1</v></c></row>")), "outside of the sheet"));
  CHECK(contains(refusal(workbook("<row><c r=\"XFE1\"><v>1</v></c></row>")), "outside of the sheet"));
  CHECK(contains(refusal(workbook("<row><c></row>")), "not well formed"));
  std::string deep;
  for (int i = 0; i < 300; ++i) deep += "<a>";
  CHECK(contains(refusal(workbook(deep)), "nested too deep"));
  CHECK(
      contains(refusal(zipped({{"xl/workbook.xml", "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>"}})), "document type"));
  CHECK(
      contains(refusal(workbook("<row>" + std::string(std::size_t{40} << 20, ' ') + "</row>")), "made to fill memory"));
  // Damage anywhere is a sentence or no harm.
  std::mt19937 random(5);
  for (std::size_t i = 0; i < 2000; ++i) {
    std::string damaged = good;
    damaged[random() % damaged.size()] = static_cast<char>(random());
    if (i % 3 == 0) damaged.resize(random() % damaged.size());
    const std::string sentence = refusal(damaged);
    CHECK((sentence.empty() || sentence.ends_with('.') || sentence.ends_with('?')));
  }
}

TEST_CASE("a table that was written reads back as itself") {
  const std::string csv =
      "id,day,stamp,text,flag,mixed\n1,2026-01-05,2026-01-05 12:30:00,\"a<b>&\"\"c\"\"\",TRUE,#N/A\n"
      "2.5,1900-01-01,2026-12-31 23:59:59,\"line\nfeed \xC3\xBC \xF0\x9F\x98\x80 \",FALSE,x\n"
      "0.1,,,\"\",,7\n-1e-300,,,_x0041_,,\n";
  Workers workers(2);
  const Table table = read_csv(csv, {}, workers).table;
  std::string bytes, again;
  write_xlsx(table, workers, [&](std::string_view piece) { bytes += piece; });
  write_xlsx(table, workers, [&](std::string_view piece) { again += piece; });
  CHECK(bytes == again);
  CHECK(sheet_of(bytes).csv == csv_of(table, workers));
  Table control(1);
  control.add("\x01 name",
              LazyColumn(Column::of(std::vector<glmhost::formula::Value>{glmhost::formula::Value("a\x1F\r")})));
  bytes.clear();
  write_xlsx(control, workers, [&](std::string_view piece) { bytes += piece; });
  CHECK(sheet_of(bytes).csv == csv_of(control, workers));
  Table long_text(1);
  long_text.add("t", LazyColumn(Column::constant(glmhost::formula::Value(std::string(32768, 'x')), 1)));
  CHECK_THROWS_WITH_AS(write_xlsx(long_text, workers, [](std::string_view) {}),
                       doctest::Contains("row 1 of column `t`"), TableError);
  Table tall(1'048'576);
  CHECK_THROWS_WITH_AS(write_xlsx(tall, workers, [](std::string_view) {}), doctest::Contains("1,048,575"), TableError);
}
