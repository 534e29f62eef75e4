// Arbitrary bytes as an expression: parsed in Excel's grammar and in the table language's, evaluated over a small
// sheet, and as a number format.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "excel-addin/formula/evaluator.h"
#include "excel-addin/formula/number_format.h"
#include "excel-addin/formula/parser.h"
#include "excel-addin/formula/text_units.h"

namespace {

using namespace glmhost::formula;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

Value cells(const Area& area) {
  constexpr std::uint32_t kMost = 8;
  const std::uint32_t rows = std::min(area.rows(), kMost), columns = std::min(area.columns(), kMost);
  Array array(rows, columns);
  for (std::size_t i = 0; i < array.size(); ++i) {
    switch ((i + area.first_row) % 5) {
      case 0:
        array[i] = Value(static_cast<double>(i) - 3);
        break;
      case 1:
        array[i] = Value("text 😀");
        break;
      case 2:
        array[i] = Value(i % 2 == 0);
        break;
      case 3:
        array[i] = Value(ErrorCode::not_available);
        break;
      default:
        break;
    }
  }
  array.set_area(area);
  return Value(std::move(array));
}

void evaluate_and_check(std::string_view source, const ParseOptions& options) {
  try {
    const SyntaxTree tree = parse(source, options);
    for (NodeId id = 0; id < tree.nodes().size(); ++id) {
      const SourceSpan span = tree[id].span;
      require(span.offset + span.length <= source.size(), "a node lies in the source");
    }
    Context context;
    context.read_cells = cells;
    context.resolve_name = [](const Name& name) -> std::optional<Value> { return Value(name.text); };
    context.now = [] { return 45301.5; };
    context.random.seed(1);
    context.most_cells = 2000;
    const Value value = evaluate(tree, context);
    require(!value.is_array() || value.array().size() > 1, "an array of one cell is the cell");
  } catch (const SyntaxError& error) {
    require(error.offset() <= source.size(), "a mistake lies in the source");
    require(!std::string_view(error.what()).empty(), "a mistake has a sentence");
    caret_text(source, error.offset(), error.length());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kMostSize = 4096;  // longer ones say nothing new and take long
  if (size > kMostSize) return 0;
  const std::string_view source(reinterpret_cast<const char*>(data), size);
  evaluate_and_check(source, {});
  evaluate_and_check(source, ParseOptions::table_language());
  for (const double number : {0.0, -1234.567, 45301.75, 1e300, 3e-7}) formatted(Value(number), source);
  formatted(Value("text"), source);
  return 0;
}
