// value.name, value[key], value[begin:end:step].
#include <algorithm>

#include "inference/chat/jinja/runtime.h"

namespace glmhost::jinja {
namespace {

std::string described(const Value& value) {
  return value.is_none() ? "None" : std::string(value.type_name()) + " object";
}

Value no_attribute(const Value& value, std::string_view name) {
  return Value::undefined("'" + described(value) + "' has no attribute '" + std::string(name) + "'");
}

Value no_element(Runtime& runtime, const Value& value, const Value& key) {
  if (key.is_text()) return no_attribute(value, key.bytes());
  Text shown;
  append_repr(runtime, key, shown);
  return Value::undefined(described(value) + " has no element " + shown.bytes());
}

// What Python keeps for itself (__class__ and the like), and changing methods, are out of reach.
void refuse_unsafe(const Value& value, std::string_view name) {
  constexpr std::string_view kChanging[] = {"append", "clear",   "extend", "insert",     "pop",   "popitem",
                                            "remove", "reverse", "sort",   "setdefault", "update"};
  const bool changing = (value.is_list() && !value.is_tuple()) || value.is_dict();
  const bool listed = std::find(std::begin(kChanging), std::end(kChanging), name) != std::end(kChanging);
  const bool of_dict =
      name == "clear" || name == "pop" || name == "popitem" || name == "setdefault" || name == "update";
  if (name.starts_with("__") || (changing && listed && (value.is_list() || of_dict))) {
    fail("access to attribute '" + std::string(name) + "' of '" + std::string(value.type_name()) +
         "' object is unsafe");
  }
}

Value loop_attribute(const Loop& loop, std::string_view name) {
  const std::vector<Value>& items = loop.items->items;
  const auto number = [](std::size_t value) { return Value(static_cast<Int>(value)); };
  if (name == "index") return number(loop.index + 1);
  if (name == "index0") return number(loop.index);
  if (name == "revindex") return number(items.size() - loop.index);
  if (name == "revindex0") return number(items.size() - loop.index - 1);
  if (name == "first") return Value(loop.index == 0);
  if (name == "last") return Value(loop.index + 1 == items.size());
  if (name == "length") return number(items.size());
  if (name == "depth") return number(1);  // of recursion, which there is none of
  if (name == "depth0") return number(0);
  if (name == "previtem") {
    return loop.index > 0 ? items[loop.index - 1] : Value::undefined("there is no previous item");
  }
  if (name == "nextitem") {
    return loop.index + 1 < items.size() ? items[loop.index + 1] : Value::undefined("there is no next item");
  }
  if (name == "cycle") {
    return make_function("loop.cycle", [index = loop.index](Runtime&, const Arguments& arguments) {
      if (arguments.positional.empty()) fail("no items for cycling given");
      return arguments.positional[index % arguments.positional.size()];
    });
  }
  return Value::undefined("'LoopContext object' has no attribute '" + std::string(name) + "'");
}

Value method(Runtime& runtime, const Value& value, std::string_view name) {
  if (value.is_text()) return text_method(runtime, value, name);
  if (value.is_dict()) return dict_method(runtime, value, name);
  if (value.is_list()) return list_method(runtime, value, name);
  if (value.is_loop()) return loop_attribute(value.loop(), name);
  if (value.is_namespace()) {
    if (const Value* member = value.space().find(name)) return *member;
  }
  return no_attribute(value, name);
}

Value entry(const Value& value, std::string_view name) {
  if (const Value* found = value.is_dict() ? value.dict().find(name) : nullptr) return *found;
  return no_attribute(value, name);
}

// Python's slice.indices().
struct Range {
  Int begin;
  Int end;
  Int step;
};

Int bound(const Value& value, Int standard) {
  if (value.is_none()) return standard;
  if (value.is_undefined()) fail(value.reason());
  if (!value.is_whole()) fail("slice indices must be integers or None");
  return value.whole();
}

Range range_of(const Value& begin, const Value& end, const Value& step, Int size) {
  Range range{0, 0, bound(step, 1)};
  if (range.step == 0) fail("slice step cannot be zero");
  const Int low = range.step < 0 ? -1 : 0;
  const Int high = range.step < 0 ? size - 1 : size;
  const auto clamp = [&](Int position) { return std::clamp(position < 0 ? position + size : position, low, high); };
  range.begin = begin.is_none() ? (range.step < 0 ? high : low) : clamp(bound(begin, 0));
  range.end = end.is_none() ? (range.step < 0 ? low : high) : clamp(bound(end, 0));
  return range;
}

template <class Take>
void each_index(const Range& range, Take take) {
  // Positions stay within -1 .. size, but a step may be as large as an Int can be.
  for (Int i = range.begin; range.step > 0 ? i < range.end : i > range.end;) {
    take(static_cast<std::size_t>(i));
    if (__builtin_add_overflow(i, range.step, &i)) return;
  }
}

Value slice_text(Runtime& runtime, const Text& text, const Value& begin, const Value& end, const Value& step) {
  const std::string& bytes = text.bytes();
  runtime.budget.read(bytes.size());
  std::vector<std::size_t> offsets;
  for (std::size_t i = 0; i < bytes.size(); i += character_bytes(bytes, i)) offsets.push_back(i);
  const Range range = range_of(begin, end, step, static_cast<Int>(offsets.size()));
  offsets.push_back(bytes.size());
  if (range.step == 1) {
    if (range.begin >= range.end) return runtime.text({});
    return runtime.text(
        text.slice(offsets[static_cast<std::size_t>(range.begin)], offsets[static_cast<std::size_t>(range.end)]));
  }
  Text out;
  each_index(range, [&](std::size_t i) { out.append(text, offsets[i], offsets[i + 1]); });
  return runtime.text(std::move(out));
}

Value character_at(Runtime& runtime, const Value& value, Int index) {
  const std::string& bytes = value.bytes();
  runtime.budget.read(bytes.size());
  if (index < 0) index += static_cast<Int>(count_characters(bytes));
  const std::size_t begin = index < 0 || index > static_cast<Int>(bytes.size())
                                ? bytes.size()
                                : character_offset(bytes, static_cast<std::size_t>(index));
  if (begin == bytes.size()) return Value::undefined("str object has no element " + int_text(index));
  return runtime.text(value.text().slice(begin, begin + character_bytes(bytes, begin)));
}

}  // namespace

Value attribute(Runtime& runtime, const Value& value, std::string_view name) {
  if (value.is_undefined()) fail(value.reason());
  refuse_unsafe(value, name);
  Value found = method(runtime, value, name);
  return found.is_undefined() && value.is_dict() ? entry(value, name) : found;
}

Value item(Runtime& runtime, const Value& value, const Value& key) {
  if (value.is_undefined()) fail(value.reason());
  if (value.is_dict()) {
    if (key.is_list() || key.is_dict()) return no_element(runtime, value, key);
    if (const Value* found = value.dict().find(key)) return *found;
  }
  if (key.is_whole() && value.is_list()) {
    const auto size = static_cast<Int>(value.items().size());
    const Int index = key.whole() < 0 ? key.whole() + size : key.whole();
    if (index >= 0 && index < size) return value.items()[static_cast<std::size_t>(index)];
  }
  if (key.is_whole() && value.is_text()) return character_at(runtime, value, key.whole());
  if (key.is_text()) {
    refuse_unsafe(value, key.bytes());
    return method(runtime, value, key.bytes());
  }
  return no_element(runtime, value, key);
}

Value slice(Runtime& runtime, const Value& value, const Value& begin, const Value& end, const Value& step) {
  if (value.is_undefined()) fail(value.reason());
  if (value.is_text()) return slice_text(runtime, value.text(), begin, end, step);
  if (!value.is_list()) {
    return Value::undefined(described(value) + " has no slices");
  }
  const std::vector<Value>& all = value.items();
  std::vector<Value> items;
  each_index(range_of(begin, end, step, static_cast<Int>(all.size())), [&](std::size_t i) { items.push_back(all[i]); });
  runtime.budget.step(items.size());
  return runtime.list(std::move(items), value.is_tuple());
}

Value attribute_path(Runtime& runtime, const Value& value, const Value& path, const Value* standard) {
  const auto found = [&](const Value& of, const Value& key) {
    Value member = item(runtime, of, key);
    return standard != nullptr && member.is_undefined() ? *standard : member;
  };
  if (!path.is_text()) return found(value, path);
  Value at = value;
  std::string_view rest = path.bytes();
  while (true) {
    const std::size_t dot = rest.find('.');
    const std::string_view name = rest.substr(0, dot);
    const bool is_number = !name.empty() && name.size() < 10 &&
                           std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
    at = found(at, is_number ? Value(Int{std::stoi(std::string(name))}) : runtime.own(name));
    if (dot == std::string_view::npos) return at;
    rest.remove_prefix(dot + 1);
  }
}

Value make_function(std::string_view name, std::function<Value(Runtime&, const Arguments&)> call) {
  return Value(std::make_shared<const Function>(Function{std::string(name), std::move(call)}));
}

}  // namespace glmhost::jinja
