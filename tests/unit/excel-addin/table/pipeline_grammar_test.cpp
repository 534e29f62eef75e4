// Every text that the grammar allows parses: texts are drawn from it at random.
#include "excel-addin/table/pipeline_grammar.h"

#include <doctest/doctest.h>

#include <cctype>
#include <random>

#include "tests/unit/excel-addin/table/tables.h"

using namespace glmhost::table;

namespace {

// A reader of as much GBNF as the grammar uses, that writes a text under a rule.
class Sampler {
 public:
  Sampler(const std::string& grammar, unsigned seed) : random_(seed) {
    std::size_t begin = 0;
    while (begin < grammar.size()) {
      const std::size_t end = grammar.find('\n', begin);
      const std::string line = grammar.substr(begin, end - begin);
      const std::size_t sign = line.find(" ::= ");
      REQUIRE(sign != std::string::npos);
      rules_[line.substr(0, sign)] = line.substr(sign + 5);
      begin = end + 1;
    }
  }

  std::string draw(const std::string& rule) {
    REQUIRE(rules_.count(rule) == 1);
    const std::string& body = rules_[rule];
    std::size_t at = 0;
    std::string text = choice(body, at, true);
    REQUIRE(at == body.size());
    return text;
  }

 private:
  // Reads alternatives; where `writes`, gives one of them.
  std::string choice(const std::string& body, std::size_t& at, bool writes) {
    const std::size_t begin = at;
    std::size_t count = 1;
    for (sequence(body, at, false); at < body.size() && body[at] == '|'; ++count) sequence(body, ++at, false);
    const std::size_t end = at;
    std::string text;
    at = begin;
    const std::size_t chosen = random_() % count;
    for (std::size_t i = 0; i < count; ++i) {
      std::string one = sequence(body, at, writes && i == chosen);
      if (i == chosen) text = one;
      ++at;
    }
    at = end;
    return text;
  }

  std::string sequence(const std::string& body, std::size_t& at, bool writes) {
    std::string text;
    while (true) {
      while (at < body.size() && body[at] == ' ') ++at;
      if (at == body.size() || body[at] == '|' || body[at] == ')') return text;
      const std::size_t item = at;
      unit(body, at, false);
      const std::size_t behind = at;
      std::size_t least = 1, most = 1;
      if (at < body.size() && body[at] == '?') {
        least = 0;
        ++at;
      } else if (at < body.size() && body[at] == '{') {
        const std::size_t close = body.find('}', at), comma = body.find(',', at);
        least = std::stoul(body.substr(at + 1));
        most = std::stoul(body.substr(comma + 1));
        at = close + 1;
      }
      for (std::size_t n = writes ? least + random_() % (most - least + 1) : 0; n > 0; --n) {
        std::size_t again = item;
        text += unit(body, again, true);
        REQUIRE(again == behind);
      }
    }
  }

  std::string unit(const std::string& body, std::size_t& at, bool writes) {
    if (body[at] == '(') {
      std::string text = choice(body, ++at, writes);
      REQUIRE(body[at] == ')');
      ++at;
      return text;
    }
    std::string text;
    if (body[at] == '"') {
      for (++at; body[at] != '"'; ++at) {
        if (body[at] == '\\') ++at;
        text += body[at - 1] == '\\' && body[at] == 'n' ? '\n' : body[at];
      }
      ++at;
      return text;
    }
    if (body[at] == '[') {
      const std::size_t close = body.find(']', at);
      const std::string set = body.substr(at + 1, close - at - 1);
      at = close + 1;
      if (set == "0-9") return std::string(1, static_cast<char>('0' + random_() % 10));
      if (set == "1-9") return std::string(1, static_cast<char>('1' + random_() % 9));
      if (set == "12") return random_() % 2 == 0 ? "1" : "2";
      REQUIRE(set == "^\"\\\\\\x00-\\x1F");
      const char* some[] = {"a", "|", "(", "]", " ", "%", "\xC3\xA4", "\x7F", "\xF0\x9F\x98\x80", "'", ",", "\n"};
      return some[random_() % (std::size(some) - 1)];
    }
    while (at < body.size() && (std::isalnum(static_cast<unsigned char>(body[at])) != 0 || body[at] == '-'))
      text += body[at++];
    REQUIRE(!text.empty());
    return writes ? draw(text) : "";
  }

  std::mt19937 random_;
  std::map<std::string, std::string> rules_;
};

}  // namespace

TEST_CASE("a column is written so that every stage knows it") {
  CHECK(column_spelling("amount", 0) == "amount");
  CHECK(column_spelling("Order Date", 0) == "[Order Date]");
  CHECK(column_spelling("a]b", 0) == "[a]]b]");
  CHECK(column_spelling("TRUE", 0) == "[TRUE]");
  CHECK(column_spelling("", 4) == "#5");
}

TEST_CASE("whatever the grammar allows parses and runs") {
  const std::vector<std::string> names = {"amount", "Order Date",   "a]b\"c\\", "and",   "sort", "x\ny",
                                          "by",     "\xE6\x95\xB0", "",         "total", "A1"};
  constexpr AskedType kTypes[] = {AskedType::number, AskedType::date, AskedType::text, AskedType::boolean,
                                  AskedType::other};
  Workers workers(1);
  std::size_t longest = 0;
  for (const std::size_t width : {std::size_t{1}, names.size()}) {
    // A table of these columns: what parses must run, too.
    Table table(2);
    std::vector<AskedColumn> columns;
    for (std::size_t i = 0; i < width; ++i) {
      columns.push_back({column_spelling(names[i], i), kTypes[i % std::size(kTypes)]});
      const bool is_text = columns.back().type == AskedType::text;
      table.add(names[i],
                LazyColumn(Column::constant(is_text ? glmhost::formula::Value("x") : glmhost::formula::Value(1.0), 2)));
    }
    const std::string grammar = pipeline_grammar(columns);
    for (unsigned seed = 0; seed < 3000; ++seed) {
      const std::string source = Sampler(grammar, seed).draw("root");
      INFO(source);
      try {
        const Pipeline pipeline = parse_pipeline(source);
        longest = std::max(longest, pipeline.stages.size());
        formatted_pipeline(source);
        run_pipeline(pipeline, source, table, {}, workers);
      } catch (const std::exception& error) {
        FAIL_CHECK(error.what());
      }
    }
  }
  CHECK(longest > 3);
}
