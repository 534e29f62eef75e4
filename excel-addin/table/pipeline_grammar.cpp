#include "excel-addin/table/pipeline_grammar.h"

#include <algorithm>

#include "excel-addin/table/pipeline.h"

namespace glmhost::table {
namespace {

// Stands wherever the grammar puts a column; false when one of the places takes it for something else.
bool works_everywhere(const std::string& spelling) {
  const std::string& c = spelling;
  try {
    parse_pipeline("filter " + c + " > " + c + " and " + c + " in (1, " + c + ") or not ISBLANK(" + c + ") | sort -" +
                   c + ", " + c + " | group " + c + ", " + c + " (total = SUM(" + c + " where " + c +
                   " > 1)) | window per " + c + " sort " + c + " (rank = RANK(), share = " + c + " / SUM(" + c +
                   ")) | pivot " + c + " by " + c + " (SUM(" + c + ")) | distinct " + c + " | select " + c + ", " + c +
                   " | take 1 per " + c + " by -" + c);
    const Pipeline one = parse_pipeline("filter " + c);
    const auto& tree = std::get<Filter>(one.stages[0].content).condition.tree;
    return std::holds_alternative<formula::Name>(tree[tree.root()].content);
  } catch (const formula::SyntaxError&) {
    return false;
  }
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n') {
      result += "\\n";
    } else if (c == '\r') {
      result += "\\r";
    } else if (c == '\t') {
      result += "\\t";
    } else {
      result += c;
    }
  }
  return result + "\"";
}

constexpr std::string_view kRules = R"GBNF(
root ::= "filter " condition ( " | " body )? | body
body ::= order | shape | summary
order ::= "sort " keys ( " | take " count )? | "take " count | "take " count " per " column " by " keys
shape ::= "select " columns | "distinct " columns | "derive result = " sum by-result? | "window " ( "per " column " " )? "(share = " number-column " / SUM(" number-column "))" | "window " ( "per " column " " )? "sort " keys " (" windowed ")" | "pivot " column " by " column " (" value ")"
windowed ::= "running = SUM(" number-column ")" | "rank = RANK()" | "before = LAG(" column ")"
by-result ::= " | sort " "-"? "result" ( " | take " count )?
keys ::= "-"? column ( ", " "-"? column )?
columns ::= column ( ", " column ){0,5}
value ::= "SUM(" number-column where? ")" | "AVERAGE(" number-column where? ")" | "MIN(" number-column where? ")" | "MAX(" number-column where? ")" | count-of
count-of ::= "COUNT()" | "COUNT(where " condition ")" | "COUNTDISTINCT(" column ")"
where ::= " where " condition
further ::= ", further = " value
compare ::= " = " | " <> " | " > " | " < " | " >= " | " <= "
sum ::= term ( operator term ){1,2} | "ROUND(" term operator term ", " digit ")"
operator ::= " + " | " - " | " * " | " / "
term ::= number-column | number
condition ::= test ( ( " and " | " or " ) test )?
day ::= "DATE(" [12] [0-9] [0-9] [0-9] ", " [1-9] ", " [1-9] ")"
number ::= digit{1,9} ( "." digit{1,4} )?
count ::= [1-9] digit{0,3}
digit ::= [0-9]
text ::= "\"" [^"\\\x00-\x1F]{0,40} "\""
)GBNF";

// What a group may compute first, by which it may then be sorted.
constexpr std::pair<std::string_view, std::string_view> kResults[] = {
    {"total", "\"total = SUM(\" number-column where? \")\""},
    {"average", "\"average = AVERAGE(\" number-column where? \")\""},
    {"n", "\"n = \" count-of"},
    {"smallest", "\"smallest = MIN(\" number-column where? \")\""},
    {"largest", "\"largest = MAX(\" number-column where? \")\""},
    {"middle", "\"middle = MEDIAN(\" number-column where? \")\""},
};

}  // namespace

std::string column_spelling(std::string_view name, std::size_t place) {
  const std::string plain(name);
  const bool may_be_plain = !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
    return c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
  });
  if (may_be_plain && works_everywhere(plain)) return plain;
  std::string bracketed = "[";
  for (const char c : name) bracketed += c == ']' ? "]]" : std::string(1, c);
  bracketed += "]";
  return works_everywhere(bracketed) ? bracketed : "#" + std::to_string(place + 1);
}

std::string pipeline_grammar(std::span<const AskedColumn> columns) {
  std::string grammar(kRules.substr(1));
  const auto rule = [&](const std::string& name, const std::vector<std::string>& alternatives) {
    grammar += name + " ::=";
    for (std::size_t i = 0; i < alternatives.size(); ++i) grammar += (i > 0 ? " | " : " ") + alternatives[i];
    grammar += "\n";
  };
  std::vector<std::string> all;
  for (const AskedColumn& column : columns) all.push_back(quoted(column.spelling));
  const auto of_type = [&](AskedType type) {
    std::vector<std::string> some;
    for (const AskedColumn& column : columns) {
      if (column.type == type) some.push_back(quoted(column.spelling));
    }
    return some;
  };
  rule("column", all);
  const auto numbers = of_type(AskedType::number), dates = of_type(AskedType::date), texts = of_type(AskedType::text),
             booleans = of_type(AskedType::boolean);
  rule("number-column", numbers.empty() ? all : numbers);
  std::vector<std::string> tests = {"\"not \"? \"ISBLANK(\" column \")\""};
  if (!numbers.empty()) tests.emplace_back("number-column compare ( number | \"-\" number | number-column )");
  if (!texts.empty()) {
    rule("text-column", texts);
    tests.emplace_back("text-column ( \" = \" | \" <> \" ) text");
    tests.emplace_back("text-column \" in (\" text ( \", \" text ){1,5} \")\"");
  }
  if (!dates.empty()) {
    rule("date-column", dates);
    tests.emplace_back("date-column compare day");
    tests.emplace_back("( \"YEAR(\" | \"MONTH(\" ) date-column \")\" compare number");
  }
  if (!booleans.empty()) {
    rule("boolean-column", booleans);
    tests.emplace_back("\"not \"? boolean-column");
  }
  rule("test", tests);

  // A group for each first key: what follows may name that key and the first result.
  constexpr std::size_t kMostPairs = 40;  // beyond it the second key may be the first one again
  std::vector<std::string> groups = {"\"group (\" ( \"total = \" | \"result = \" ) value further? \")\""};
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string number = std::to_string(i);
    groups.push_back("group-" + number);
    std::vector<std::string> others;
    for (std::size_t k = 0; k < all.size() && all.size() <= kMostPairs; ++k) {
      if (k != i) others.push_back(all[k]);
    }
    if (all.size() > kMostPairs) others.emplace_back("column");
    for (const std::string& date : dates) {
      others.push_back("\"year = YEAR(\" " + date + " \")\"");
      others.push_back("\"month = MONTH(\" " + date + " \")\"");
    }
    if (!others.empty()) rule("other-" + number, others);
    std::vector<std::string> results;
    for (const auto& [name, value] : kResults) {
      const std::string result = quoted(name);
      // A column without a name has another place in the group's table.
      const bool has_name = !columns[i].spelling.starts_with('#');
      const std::string best = " | \" | take \" count \" per \" " + all[i] + " \" by \" \"-\"? " + result;
      results.push_back(std::string(value) + " further? \")\" ( \" | filter \" " + result +
                        " compare number )? ( \" | sort \" \"-\"? " + result + " ( \" | take \" count )?" +
                        (has_name ? best : "") + " )?");
    }
    rule("results-" + number, results);
    rule("group-" + number, {"\"group \" " + all[i] + (others.empty() ? "" : " ( \", \" other-" + number + " )?") +
                             " \" (\" results-" + number});
  }
  for (const std::string& date : dates) {
    for (const char* part : {"year = YEAR", "month = MONTH"})
      groups.push_back("\"group " + std::string(part) + "(\" " + date + " \") (total = \" value further? \")\"");
  }
  rule("summary", groups);
  return grammar;
}

std::string_view pipeline_primer() {
  return R"(You turn a question about a table into a pipeline. Stages are divided by " | ":
filter CONDITION - keep rows: filter amount > 100 and region in ("EU", "US")
group KEYS (total = SUM(column)) - one row for each key; also average = AVERAGE(column), n = COUNT(), largest = MAX(column)
sort KEYS - smallest first, -column for largest first
take N - the first rows; take N per KEY by -column - the largest N of each group
select COLUMNS - keep columns; distinct COLUMNS - different rows; derive result = a * b - a new column
pivot KEY by COLUMN (SUM(amount)) - a table with a column for each value
Examples:
total sales per region, largest first: group region (total = SUM(amount)) | sort -total
top five customers by revenue per region: group region, customer (total = SUM(amount)) | take 5 per region by -total
how many orders are above 100: filter amount > 100 | group (n = COUNT())
Answer with the pipeline alone.)";
}

}  // namespace glmhost::table
