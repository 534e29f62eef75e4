// What may stand behind `is`.
#include <algorithm>

#include "inference/chat/jinja/runtime.h"

namespace glmhost::jinja {
namespace {

template <bool (*holds)(const Value&)>
bool simple(Runtime&, const Value& input, const Arguments& arguments) {
  const Parameters none("this test", arguments, {});
  return holds(input);
}

template <Operator op>
bool compared(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters given("this test", arguments, {"other"}, 1);
  return comparison(runtime, op, input, *given[0]);
}

template <int rest>
bool parity(Runtime& runtime, const Value& input, const Arguments&) {
  return equal(arithmetic(runtime, Operator::modulo, input, Value(Int{2})), Value(Int{rest}), runtime.budget);
}

bool divisible(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters given("divisibleby", arguments, {"num"}, 1);
  return equal(arithmetic(runtime, Operator::modulo, input, *given[0]), Value(Int{0}), runtime.budget);
}

template <Text (*convert)(const Text&)>
bool cased(Runtime& runtime, const Value& input, const Arguments&) {
  const Text text = to_text(runtime, input);
  runtime.budget.read(text.size() * 4);
  return to_upper(text).bytes() != to_lower(text).bytes() && convert(text).bytes() == text.bytes();
}

bool same_as(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters given("sameas", arguments, {"other"}, 1);
  return input.type_name() == given[0]->type_name() && equal(input, *given[0], runtime.budget);
}

bool iterable(const Value& value) {
  return value.is_text() || value.is_list() || value.is_dict() || value.is_undefined() || value.is_loop();
}

struct Named {
  std::string_view name;
  Test test;
};

constexpr Named kTests[] = {
    {"defined", simple<[](const Value& v) { return !v.is_undefined(); }>},
    {"undefined", simple<[](const Value& v) { return v.is_undefined(); }>},
    {"none", simple<[](const Value& v) { return v.is_none(); }>},
    {"boolean", simple<[](const Value& v) { return v.is_bool(); }>},
    {"true", simple<[](const Value& v) { return v.is_bool() && v.truth(); }>},
    {"false", simple<[](const Value& v) { return v.is_bool() && !v.truth(); }>},
    {"integer", simple<[](const Value& v) { return v.is_int(); }>},
    {"float", simple<[](const Value& v) { return v.is_float(); }>},
    {"number", simple<[](const Value& v) { return v.is_number(); }>},
    {"string", simple<[](const Value& v) { return v.is_text(); }>},
    {"mapping", simple<[](const Value& v) { return v.is_dict(); }>},
    {"iterable", simple<iterable>},
    {"sequence", simple<[](const Value& v) { return iterable(v) && !v.is_loop(); }>},
    {"callable", simple<[](const Value& v) { return v.is_function(); }>},
    {"upper", cased<to_upper>},
    {"lower", cased<to_lower>},
    {"odd", parity<1>},
    {"even", parity<0>},
    {"divisibleby", divisible},
    {"sameas", same_as},
    {"in", compared<Operator::in>},
    {"eq", compared<Operator::eq>},
    {"equalto", compared<Operator::eq>},
    {"==", compared<Operator::eq>},
    {"ne", compared<Operator::ne>},
    {"!=", compared<Operator::ne>},
    {"lt", compared<Operator::lt>},
    {"lessthan", compared<Operator::lt>},
    {"<", compared<Operator::lt>},
    {"le", compared<Operator::le>},
    {"<=", compared<Operator::le>},
    {"gt", compared<Operator::gt>},
    {"greaterthan", compared<Operator::gt>},
    {">", compared<Operator::gt>},
    {"ge", compared<Operator::ge>},
    {">=", compared<Operator::ge>},
};

}  // namespace

Test find_test(std::string_view name) {
  for (const Named& each : kTests) {
    if (each.name == name) return each.test;
  }
  return nullptr;
}

}  // namespace glmhost::jinja
