// Between JSON, values and text.
#include <utf8proc.h>

#include <algorithm>
#include <cmath>

#include "inference/chat/jinja/runtime.h"

namespace glmhost::jinja {
namespace {

std::string float_text(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
  return repr(number);
}

// \u with four digits, or \x with two, or \U with eight.
std::string escape(char32_t c, char letter = 'u') {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = {'\\', letter};
  for (int shift = letter == 'x' ? 4 : letter == 'u' ? 12 : 28; shift >= 0; shift -= 4) out += kHex[c >> shift & 15];
  return out;
}

// str.isprintable(), of one character.
bool is_printable(char32_t c) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return false;
    case UTF8PROC_CATEGORY_ZS:
      return c == U' ';
    default:
      return true;
  }
}

void append_quoted(Text& out, const Text& text) {
  const std::string& bytes = text.bytes();
  const bool single = bytes.find('\'') == std::string::npos || bytes.find('"') != std::string::npos;
  const char quote = single ? '\'' : '"';
  out.append({&quote, 1}, Origin::own);
  for (std::size_t i = 0; i < bytes.size();) {
    const std::size_t length = character_bytes(bytes, i);
    const char byte = bytes[i];
    const Origin origin = text.origin_at(i);
    if (byte == '\n' || byte == '\r' || byte == '\t') {
      out.append(byte == '\n' ? "\\n" : byte == '\r' ? "\\r" : "\\t", origin);
    } else if (byte == '\\' || byte == quote) {
      out.append("\\", origin).append(text, i, i + 1);
    } else if (const char32_t c = character(bytes, i); !is_printable(c)) {
      out.append(escape(c, c < 0x100 ? 'x' : c < 0x10000 ? 'u' : 'U'), origin);
    } else {
      out.append(text, i, i + length);
    }
    i += length;
  }
  out.append({&quote, 1}, Origin::own);
}

class JsonWriter {
 public:
  JsonWriter(Runtime& runtime, const JsonStyle& style) : runtime_(runtime), style_(style) {
    if (style_.item_separator.empty()) style_.item_separator = style_.indent ? "," : ", ";
  }

  Text write(const Value& value) {
    append(value, 0);
    return Text(out_, given_ ? Origin::given : Origin::own);
  }

 private:
  void append(const Value& value, std::size_t depth) {
    const std::size_t before = out_.size();
    if (value.is_text()) {
      append_string(value.text());
    } else if (value.is_none()) {
      out_ += "null";
    } else if (value.is_bool()) {
      out_ += value.truth() ? "true" : "false";
    } else if (value.is_int()) {
      out_ += int_text(value.whole());
    } else if (value.is_float()) {
      out_ += repr(value.number());
    } else if (value.is_list()) {
      append_list(value.items(), depth);
    } else if (value.is_dict()) {
      append_dict(value.dict(), depth);
    } else {
      fail("Object of type " + std::string(value.type_name()) + " is not JSON serializable");
    }
    if (!value.is_list() && !value.is_dict()) runtime_.budget.make(out_.size() - before);
    runtime_.budget.step();
  }

  void append_list(const std::vector<Value>& items, std::size_t depth) {
    out_ += '[';
    bool first = true;
    for (const Value& item : items) {
      begin_item(first, depth + 1);
      append(item, depth + 1);
    }
    if (!first) break_line(depth);
    out_ += ']';
  }

  void append_dict(const Dict& dict, std::size_t depth) {
    std::vector<const Dict::Entry*> entries;
    for (const Dict::Entry& entry : dict.entries()) entries.push_back(&entry);
    if (style_.sort_keys) {
      std::stable_sort(entries.begin(), entries.end(), [&](const Dict::Entry* a, const Dict::Entry* b) {
        return compare(a->first, b->first, "<", runtime_.budget) < 0;
      });
    }
    out_ += '{';
    bool first = true;
    for (const Dict::Entry* entry : entries) {
      begin_item(first, depth + 1);
      append_key(entry->first);
      out_ += style_.key_separator;
      append(entry->second, depth + 1);
    }
    if (!first) break_line(depth);
    out_ += '}';
  }

  void append_key(const Value& key) {
    if (key.is_text()) {
      append_string(key.text());
    } else {
      out_ += '"';
      append(key, 0);  // numbers, truth values and None: the only other keys there are
      out_ += '"';
    }
  }

  void begin_item(bool& first, std::size_t depth) {
    if (!first) out_ += style_.item_separator;
    first = false;
    break_line(depth);
  }

  void break_line(std::size_t depth) {
    if (!style_.indent) return;
    runtime_.budget.make(1 + depth * style_.indent->size());
    out_ += '\n';
    for (; depth > 0; --depth) out_ += *style_.indent;
  }

  void append_string(const Text& text) {
    given_ = given_ || text.has_given();
    const std::string quoted = dump(Json(text.bytes()));
    if (!style_.ensure_ascii) {
      out_ += quoted;
      return;
    }
    for (std::size_t i = 0; i < quoted.size(); i += character_bytes(quoted, i)) {
      const char32_t c = character(quoted, i);
      if (c < 0x7f) {
        out_ += static_cast<char>(c);
      } else if (c < 0x10000) {
        out_ += escape(c);
      } else {
        out_ += escape(0xD800 + ((c - 0x10000) >> 10)) + escape(0xDC00 + ((c - 0x10000) & 0x3FF));
      }
    }
  }

  Runtime& runtime_;
  JsonStyle style_;
  std::string out_;
  bool given_ = false;
};

}  // namespace

Value from_json(Runtime& runtime, const Json& json, Origin origin) {
  switch (json.type()) {
    case Json::value_t::boolean:
      return Value(json.get<bool>());
    case Json::value_t::number_integer:
      return Value(Int{json.get<std::int64_t>()});
    case Json::value_t::number_unsigned:
      return Value(Int{json.get<std::uint64_t>()});
    case Json::value_t::number_float:
      return Value(json.get<double>());
    case Json::value_t::string:
      return runtime.text(Text(json.get_ref<const std::string&>(), origin));
    case Json::value_t::array: {
      std::vector<Value> items;
      items.reserve(json.size());
      for (const Json& item : json) items.push_back(from_json(runtime, item, origin));
      return runtime.list(std::move(items));
    }
    case Json::value_t::object: {
      Dict dict;
      for (const auto& [key, value] : json.items()) {
        dict.set(runtime.text(Text(key, origin)), from_json(runtime, value, origin));
      }
      return runtime.dict(std::move(dict));
    }
    default:
      return Value();
  }
}

Text to_text(Runtime& runtime, const Value& value) {
  if (value.is_text()) return value.text();
  Text out;
  if (!value.is_undefined()) append_repr(runtime, value, out);
  return out;
}

void append_repr(Runtime& runtime, const Value& value, Text& out) {
  runtime.budget.step();
  const std::size_t before = out.size();
  if (value.is_text()) {
    append_quoted(out, value.text());
  } else if (value.is_none()) {
    out.append("None", Origin::own);
  } else if (value.is_bool()) {
    out.append(value.truth() ? "True" : "False", Origin::own);
  } else if (value.is_int()) {
    out.append(int_text(value.whole()), Origin::own);
  } else if (value.is_float()) {
    out.append(float_text(value.number()), Origin::own);
  } else if (value.is_list()) {
    out.append(value.is_tuple() ? "(" : "[", Origin::own);
    bool first = true;
    for (const Value& item : value.items()) {
      if (!first) out.append(", ", Origin::own);
      first = false;
      append_repr(runtime, item, out);
    }
    if (value.is_tuple() && value.items().size() == 1) out.append(",", Origin::own);
    out.append(value.is_tuple() ? ")" : "]", Origin::own);
    return;
  } else if (value.is_dict()) {
    out.append("{", Origin::own);
    bool first = true;
    for (const auto& [key, item] : value.dict().entries()) {
      if (!first) out.append(", ", Origin::own);
      first = false;
      append_repr(runtime, key, out);
      out.append(": ", Origin::own);
      append_repr(runtime, item, out);
    }
    out.append("}", Origin::own);
    return;
  } else {
    out.append("<" + std::string(value.type_name()) + ">", Origin::own);
  }
  runtime.budget.make(out.size() - before);
}

Text to_json(Runtime& runtime, const Value& value, const JsonStyle& style) {
  return JsonWriter(runtime, style).write(value);
}

std::vector<Value> iterate(Runtime& runtime, const Value& value) {
  std::vector<Value> items;
  if (value.is_list()) {
    items = value.items();
  } else if (value.is_dict()) {
    for (const auto& [key, item] : value.dict().entries()) items.push_back(key);
  } else if (value.is_text()) {
    const std::string& bytes = value.bytes();
    for (std::size_t i = 0; i < bytes.size();) {
      const std::size_t end = i + character_bytes(bytes, i);
      items.push_back(runtime.text(value.text().slice(i, end)));
      i = end;
    }
  } else if (value.is_loop()) {
    items = value.loop().items->items;
  } else if (!value.is_undefined()) {
    fail("'" + std::string(value.type_name()) + "' object is not iterable");
  }
  runtime.budget.step(1 + items.size());
  return items;
}

std::size_t length(Runtime& runtime, const Value& value) {
  if (value.is_text()) {
    runtime.budget.read(value.text().size());
    return count_characters(value.bytes());
  }
  if (value.is_list()) return value.items().size();
  if (value.is_dict()) return value.dict().size();
  if (value.is_loop()) return value.loop().items->items.size();
  if (value.is_undefined()) return 0;
  fail("object of type '" + std::string(value.type_name()) + "' has no len()");
}

}  // namespace glmhost::jinja
