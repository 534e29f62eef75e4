// What the built-in functions, filters, tests and methods of a template work with.
#pragma once

#include <chrono>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "inference/chat/jinja/budget.h"
#include "inference/chat/jinja/fault.h"
#include "inference/chat/jinja/python_text.h"
#include "inference/chat/jinja/value.h"

namespace glmhost::jinja {

using LocalTime = std::chrono::local_seconds;

class Runtime {
 public:
  Runtime(const Limits& limits, std::optional<LocalTime> time) : budget(limits), now(time) {}
  ~Runtime() { release(); }
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  // Every text, list, dict and namespace of a run is made here, and counted.
  Value text(Text made);
  Value own(std::string_view made) { return text(Text(made, Origin::own)); }
  Value list(std::vector<Value> items, bool is_tuple = false);
  Value dict(Dict made);
  Value space(Namespace made);
  void set_member(Namespace& space, std::string_view name, Value value);

  Budget budget;
  const std::optional<LocalTime> now;

 private:
  void release();  // namespaces may hold one another: they are emptied at the end

  std::vector<NamespacePtr> spaces_;
};

struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;
};

struct Function {
  std::string name;
  std::function<Value(Runtime&, const Arguments&)> call;
};

// Arguments by the parameters' names; fails for too many, unknown or missing ones as Python does.
class Parameters {
 public:
  Parameters(std::string_view callee, const Arguments& arguments, std::initializer_list<std::string_view> names,
             std::size_t required = 0);

  const Value* operator[](std::size_t index) const { return values_[index]; }  // null when not given
  const Value* given(std::size_t index) const;                                 // null also for None
  bool flag(std::size_t index, bool standard) const { return values_[index] ? values_[index]->truth() : standard; }
  Int whole(std::size_t index, Int standard) const;  // fails for another type
  const Text& text(std::size_t index) const;         // fails for another type and when not given

 private:
  std::string callee_;
  std::vector<const Value*> values_;
  std::vector<std::string> names_;
};

// --- conversions

Value from_json(Runtime& runtime, const Json& json, Origin origin);

// Python's str() and repr().
Text to_text(Runtime& runtime, const Value& value);
void append_repr(Runtime& runtime, const Value& value, Text& out);

struct JsonStyle {
  std::optional<std::string> indent;  // what one level is moved in by; nothing: one line
  std::string item_separator;         // empty: Python's own for the indent
  std::string key_separator = ": ";
  bool ensure_ascii = false;
  bool sort_keys = false;
};
// json.dumps(value). A value with anything of the request in it is the request's text as a whole.
Text to_json(Runtime& runtime, const Value& value, const JsonStyle& style);

// What a for statement, list() and the like go through: items, keys, characters. Fails for what cannot be.
std::vector<Value> iterate(Runtime& runtime, const Value& value);
std::size_t length(Runtime& runtime, const Value& value);

// --- operators

enum class Operator {
  add,
  subtract,
  multiply,
  divide,
  floor_divide,
  modulo,
  power,
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  in,
  not_in
};
Value arithmetic(Runtime& runtime, Operator op, const Value& a, const Value& b);
bool comparison(Runtime& runtime, Operator op, const Value& a, const Value& b);
bool contains(Runtime& runtime, const Value& container, const Value& item);
Value negate(Runtime& runtime, const Value& value);
Text format_percent(Runtime& runtime, const Text& format, const Value& values);  // format % values
Text repeat(Runtime& runtime, const Text& text, Int count);
// str.replace(); most < 0: all.
Text replace_text(Runtime& runtime, const Text& text, const Text& old, const Text& by, Int most);

// --- members

// value.name and value[key]; an undefined value where there is none. Methods of text, dicts and lists are functions.
Value attribute(Runtime& runtime, const Value& value, std::string_view name);
Value item(Runtime& runtime, const Value& value, const Value& key);
Value slice(Runtime& runtime, const Value& value, const Value& begin, const Value& end, const Value& step);
// "a.b.0", as filters take it; `standard`, where there is one, stands for each member that is not there.
Value attribute_path(Runtime& runtime, const Value& value, const Value& path, const Value* standard = nullptr);

Value text_method(Runtime& runtime, const Value& value, std::string_view name);  // undefined when there is none
Value dict_method(Runtime& runtime, const Value& value, std::string_view name);
Value list_method(Runtime& runtime, const Value& value, std::string_view name);
Value make_function(std::string_view name, std::function<Value(Runtime&, const Arguments&)> call);

// --- what is found by name

using Filter = Value (*)(Runtime& runtime, const Value& input, const Arguments& arguments);
using Test = bool (*)(Runtime& runtime, const Value& input, const Arguments& arguments);
Filter find_filter(std::string_view name);  // null when there is none
Test find_test(std::string_view name);
Filter find_text_filter(std::string_view name);
Filter find_list_filter(std::string_view name);

// range, namespace, dict, raise_exception, strftime_now.
std::vector<std::pair<std::string_view, Value>> global_functions();

}  // namespace glmhost::jinja
