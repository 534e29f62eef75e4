// Every example of LANGUAGE.md does what it says.
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

#include "tests/unit/excel-addin/table/tables.h"

using namespace glmhost::table;

namespace {

struct Block {
  std::string kind, name, text;
};

std::vector<Block> blocks_of(const std::string& file) {
  std::ifstream stream(file);
  REQUIRE(stream);
  std::vector<Block> blocks;
  bool inside = false;
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("```")) {
      inside = !inside;
      if (!inside) continue;
      std::istringstream words(line.substr(3));
      Block block;
      words >> block.kind >> block.name;
      blocks.push_back(block);
    } else if (inside) {
      blocks.back().text += line + "\n";
    }
  }
  return blocks;
}

}  // namespace

TEST_CASE("every example of the language's reference gives the result beside it") {
  const std::vector<Block> blocks = blocks_of(GLMHOST_TABLE_LANGUAGE);
  std::map<std::string, std::string> tables;
  std::size_t examples = 0;
  std::vector<std::string> seen;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].kind == "csv") tables[blocks[i].name] = blocks[i].text;
    if (blocks[i].kind != "pipeline") continue;
    REQUIRE(i + 1 < blocks.size());
    const Block& expected = blocks[i + 1];
    const std::string source = blocks[i].text.substr(0, blocks[i].text.size() - 1);
    CAPTURE(source);
    ++examples;
    std::string got;
    try {
      const Pipeline pipeline = parse_pipeline(source);
      got = run(source, tables["orders"], tables).csv;
      const std::string formatted = formatted_pipeline(source);
      CHECK(run(formatted, tables["orders"], tables).csv == got);
      CHECK(formatted_pipeline(formatted) == formatted);
      CHECK(!explained(pipeline, source).empty());
      CHECK(expected.kind == "result");
    } catch (const std::exception& error) {
      got = std::string(error.what()) + "\n";
      CHECK(expected.kind == "error");
    }
    CHECK(got == expected.text);
    seen.push_back(source);
  }
  CHECK(examples > 30);
  for (const std::string_view word : stage_words()) {
    CAPTURE(word);
    CHECK(std::any_of(seen.begin(), seen.end(),
                      [&](const std::string& source) { return source.find(word) != std::string::npos; }));
  }
}
