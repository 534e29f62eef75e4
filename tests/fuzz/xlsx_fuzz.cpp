// Arbitrary bytes as a workbook, and arbitrary XML as a part of one. An input that begins with a digit is a part: which
// one the digit says, the rest is its text; so the fuzzer need not find its way through DEFLATE.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "excel-addin/table/table_error.h"
#include "excel-addin/table/xlsx_reader.h"
#include "excel-addin/table/xlsx_writer.h"
#include "excel-addin/table/zip_archive.h"

namespace {

using namespace glmhost::table;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kParts = {{
    {"xl/worksheets/sheet1.xml",
     "<worksheet><sheetData><row r=\"1\"><c r=\"A1\" t=\"s\"><v>0</v></c></row></sheetData></worksheet>"},
    {"xl/sharedStrings.xml", "<sst><si><t>a</t></si></sst>"},
    {"xl/styles.xml", "<styleSheet><cellXfs><xf numFmtId=\"14\"/></cellXfs></styleSheet>"},
    {"xl/workbook.xml", "<workbook><sheets><sheet name=\"S\" id=\"a\"/></sheets></workbook>"},
    {"xl/_rels/workbook.xml.rels",
     "<Relationships><Relationship Id=\"a\" Type=\"x/worksheet\" Target=\"worksheets/sheet1.xml\"/><Relationship "
     "Id=\"b\" Type=\"x/sharedStrings\" Target=\"sharedStrings.xml\"/><Relationship Id=\"c\" Type=\"x/styles\" "
     "Target=\"styles.xml\"/></Relationships>"},
}};

std::string book_with(std::size_t part, std::string_view text) {
  std::string bytes;
  ZipWriter zip([&](std::string_view piece) { bytes += piece; });
  for (std::size_t i = 0; i < kParts.size(); ++i) {
    zip.begin(std::string(kParts[i].first));
    zip.add(i == part ? text : kParts[i].second);
    zip.end();
  }
  zip.finish();
  return bytes;
}

void read(std::string_view bytes) {
  Workers workers(1);
  try {
    const XlsxResult result = read_xlsx(bytes, {}, workers);
    constexpr std::size_t kMostCells = 1 << 16;
    if (result.table.rows() * result.table.width() > kMostCells) return;
    std::string written;
    write_xlsx(result.table, workers, [&](std::string_view piece) { written += piece; });
    const XlsxResult back = read_xlsx(written, {"", true}, workers);
    require(back.table.width() == result.table.width(), "a written table has as many columns");
  } catch (const TableError& error) {
    require(!std::string_view(error.what()).empty(), "a mistake has a sentence");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const bool is_part = !input.empty() && input[0] >= '0' && input[0] < '0' + static_cast<char>(kParts.size());
  if (is_part) {
    read(book_with(static_cast<std::size_t>(input[0] - '0'), input.substr(1)));
  } else {
    read(input);
  }
  return 0;
}
