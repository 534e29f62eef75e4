// The methods of Python's dict and list that change nothing.
#include <algorithm>

#include "inference/chat/jinja/runtime.h"

namespace glmhost::jinja {
namespace {

enum class Column { keys, values, items };

Value column(Runtime& runtime, const Dict& dict, Column wanted) {
  std::vector<Value> out;
  for (const auto& [key, value] : dict.entries()) {
    out.push_back(wanted == Column::keys ? key : wanted == Column::values ? value : runtime.list({key, value}, true));
  }
  runtime.budget.step(out.size());
  return runtime.list(std::move(out));
}

Value column_method(std::string_view name, const Value& value, Column wanted) {
  return make_function(name, [value, wanted, callee = std::string(name)](Runtime& runtime, const Arguments& arguments) {
    const Parameters none(callee + "()", arguments, {});
    return column(runtime, value.dict(), wanted);
  });
}

Value copy_method(const Value& value) {
  return make_function("copy", [value](Runtime&, const Arguments& arguments) {
    const Parameters none("copy()", arguments, {});
    return value;
  });
}

}  // namespace

Value dict_method(Runtime&, const Value& value, std::string_view name) {
  if (name == "items") return column_method(name, value, Column::items);
  if (name == "keys") return column_method(name, value, Column::keys);
  if (name == "values") return column_method(name, value, Column::values);
  if (name == "copy") return copy_method(value);
  if (name == "get") {
    return make_function(name, [value](Runtime&, const Arguments& arguments) {
      const Parameters given("get()", arguments, {"key", "default"}, 1);
      if (const Value* found = value.dict().find(*given[0])) return *found;
      return given[1] ? *given[1] : Value();
    });
  }
  return Value::undefined("'dict object' has no attribute '" + std::string(name) + "'");
}

Value list_method(Runtime&, const Value& value, std::string_view name) {
  if (name == "copy" && !value.is_tuple()) return copy_method(value);
  if (name == "count") {
    return make_function(name, [value](Runtime& runtime, const Arguments& arguments) {
      const Parameters given("count()", arguments, {"value"}, 1);
      const auto same = [&](const Value& each) { return equal(each, *given[0], runtime.budget); };
      return Value(static_cast<Int>(std::count_if(value.items().begin(), value.items().end(), same)));
    });
  }
  if (name == "index") {
    return make_function(name, [value](Runtime& runtime, const Arguments& arguments) {
      const Parameters given("index()", arguments, {"value"}, 1);
      const auto same = [&](const Value& each) { return equal(each, *given[0], runtime.budget); };
      const auto found = std::find_if(value.items().begin(), value.items().end(), same);
      if (found == value.items().end()) fail("the value is not in the list");
      return Value(static_cast<Int>(found - value.items().begin()));
    });
  }
  return Value::undefined("'" + std::string(value.type_name()) + " object' has no attribute '" + std::string(name) +
                          "'");
}

}  // namespace glmhost::jinja
