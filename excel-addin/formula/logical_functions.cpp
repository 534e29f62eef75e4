#include <algorithm>
#include <array>

#include "excel-addin/formula/arguments.h"
#include "excel-addin/formula/families.h"
#include "excel-addin/formula/operators.h"

namespace glmhost::formula {
namespace {

constexpr auto kNothingWhole = [](std::size_t) { return false; };

// What an argument left out between commas is worth as a result: =IF(TRUE,,1) is 0.
Value shown(Value value) {
  return value.is_omitted() ? Value(0) : value;
}

// The truth values among the arguments: cells that are text or empty are left out, and so is a text literal that names
// no truth value, unless nothing else is there.
std::vector<bool> truths(Arguments& arguments) {
  std::vector<bool> result;
  for (const Value& value : arguments.from(0)) {
    for (const Value& cell : cells_of(value)) {
      if (cell.is_error()) arguments.fail(cell.error());
      if (value.is_array() && !cell.is_number() && !cell.is_boolean()) continue;
      if (const auto truth = to_boolean(cell)) result.push_back(*truth);
    }
  }
  if (result.empty()) arguments.fail(ErrorCode::value);
  return result;
}

Value and_(Arguments& a) {
  const auto values = truths(a);
  return std::ranges::find(values, false) == values.end();
}
Value or_(Arguments& a) {
  const auto values = truths(a);
  return std::ranges::find(values, true) != values.end();
}
Value xor_(Arguments& a) {
  return std::ranges::count(truths(a), true) % 2 == 1;
}
Value not_(Arguments& a) {
  return !a.boolean(0);
}
Value true_(Arguments&) {
  return true;
}
Value false_(Arguments&) {
  return false;
}

Value in(Arguments& a) {
  a.check(a[0]);
  bool found = false;
  for (const Value& item : a.from(1)) {
    a.check(item);
    if (!a.error()) found = found || compare_values(a[0], item) == 0;
  }
  return found;
}

Value if_(LazyArguments& a) {
  const auto branch = [&](bool truth) {
    if (truth) return shown(a.evaluate(1));
    return a.size() > 2 ? shown(a.evaluate(2)) : Value(false);
  };
  const Value condition = a.evaluate(0);
  if (!condition.is_array() || condition.array().size() == 1) {
    const auto truth = to_boolean(condition);
    return truth ? branch(*truth) : Value(truth.error());
  }
  const std::array<Value, 3> values = {condition, branch(true), branch(false)};
  return lifted(values, kNothingWhole, a.context().most_cells, [](std::span<const Value> each) -> Value {
    const auto truth = to_boolean(each[0]);
    return truth ? each[*truth ? 1 : 2] : Value(truth.error());
  });
}

// The value where it is no such error, else the replacement.
Value replace_errors(LazyArguments& a, bool (*is_replaced)(ErrorCode)) {
  const Value value = shown(a.evaluate(0));
  const auto replaced = [&](const Value& each) { return each.is_error() && is_replaced(each.error()); };
  if (!value.is_array()) return replaced(value) ? shown(a.evaluate(1)) : value;
  if (std::ranges::none_of(value.array().cells(), replaced)) return value;
  const std::array<Value, 2> values = {value, shown(a.evaluate(1))};
  return lifted(values, kNothingWhole, a.context().most_cells,
                [&](std::span<const Value> each) { return each[replaced(each[0]) ? 1 : 0]; });
}

Value iferror(LazyArguments& a) {
  return replace_errors(a, [](ErrorCode) { return true; });
}
Value ifna(LazyArguments& a) {
  return replace_errors(a, [](ErrorCode error) { return error == ErrorCode::not_available; });
}

Value ifs(LazyArguments& a) {
  if (a.size() % 2 != 0) return ErrorCode::not_available;
  for (std::size_t i = 0; i < a.size(); i += 2) {
    const auto truth = to_boolean(a.evaluate(i));
    if (!truth) return truth.error();
    if (*truth) return shown(a.evaluate(i + 1));
  }
  return ErrorCode::not_available;
}

Value switch_(LazyArguments& a) {
  const Value wanted = a.evaluate(0).scalar();
  if (wanted.is_error()) return wanted;
  std::size_t i = 1;
  for (; i + 1 < a.size(); i += 2) {
    const Value candidate = a.evaluate(i).scalar();
    if (candidate.is_error()) return candidate;
    if (compare_values(wanted, candidate) == 0) return shown(a.evaluate(i + 1));
  }
  return i < a.size() ? shown(a.evaluate(i)) : Value(ErrorCode::not_available);
}

Value choose(LazyArguments& a) {
  const Value index = a.evaluate(0);
  const auto pick = [&](const Value& each) -> Value {
    const auto number = to_number(each);
    if (!number) return number.error();
    if (!(*number >= 1 && *number < static_cast<double>(a.size()))) return ErrorCode::value;
    return shown(a.evaluate(static_cast<std::size_t>(*number)));
  };
  if (!index.is_array() || index.array().size() == 1) return pick(index);
  Array result(index.array().rows(), index.array().columns());
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = Value(pick(index.array()[i]).scalar());
  return Value(std::move(result));
}

Value let(LazyArguments& a) {
  std::size_t bound = 0;
  for (std::size_t i = 0; i + 1 < a.size(); i += 2) {
    a.bind(a.name(i), a.evaluate(i + 1));
    ++bound;
  }
  Value result = shown(a.evaluate(a.size() - 1));
  a.unbind(bound);
  return result;
}

constexpr Function kFunctions[] = {
    {"AND", "*logical1, [*logical2], ...", "TRUE when all are true.", and_, Trait::aggregate},
    {"OR", "*logical1, [*logical2], ...", "TRUE when any is true.", or_, Trait::aggregate},
    {"XOR", "*logical1, [*logical2], ...", "TRUE when an odd number is true.", xor_, Trait::aggregate},
    {"NOT", "logical", "TRUE for FALSE, FALSE for TRUE.", not_},
    {"TRUE", "", "The truth value TRUE.", true_},
    {"FALSE", "", "The truth value FALSE.", false_},
    {"IF", "condition, value_if_true, [value_if_false]", "One value or the other.", if_},
    {"IFERROR", "value, value_if_error", "The value, or another when it is an error.", iferror},
    {"IFNA", "value, value_if_na", "The value, or another when it is #N/A.", ifna},
    {"IFS", "condition1, value1, [condition2], [value2], ...", "The value behind the first condition that is true.",
     ifs},
    {"SWITCH", "expression, value1, [result1], [value_or_default2], [result2], ...",
     "The result behind the first value that equals the expression.", switch_},
    {"CHOOSE", "index, value1, [value2], ...", "The value at a place in the list.", choose},
    {"LET", "name1, value1, [name_or_result2], [value2], ...", "Names values for use in the last argument.", let,
     Trait::binds_names},
    {"IN", "value, item1, [item2], ...", "TRUE when the value equals an item: value in (item1, item2).", in},
};

}  // namespace

std::span<const Function> logical_functions() {
  return kFunctions;
}

}  // namespace glmhost::formula
