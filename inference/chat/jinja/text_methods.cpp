// The methods of Python's str.
#include <algorithm>
#include <string>

#include "inference/chat/jinja/runtime.h"

namespace glmhost::jinja {
namespace {

using Method = Value (*)(Runtime& runtime, const Text& text, const Arguments& arguments);

Value number(std::size_t value) {
  return Value(static_cast<Int>(value));
}

Value strip_method(Runtime& runtime, const Text& text, const Arguments& arguments, bool left, bool right) {
  const Parameters given("strip()", arguments, {"chars"});
  runtime.budget.read(text.size());
  if (given.given(0) == nullptr) return runtime.text(strip(text, left, right));
  runtime.budget.read(text.size() * (1 + given.text(0).size() / 8));
  return runtime.text(strip(text, given.text(0).bytes(), left, right));
}

// --- split

std::vector<Value> split_at(Runtime& runtime, const Text& text, const std::string& separator, Int most,
                            bool from_right) {
  if (separator.empty()) fail("empty separator");
  const std::string& bytes = text.bytes();
  std::vector<std::pair<std::size_t, std::size_t>> pieces;
  std::size_t begin = 0;
  std::size_t end = bytes.size();
  while (most < 0 || static_cast<Int>(pieces.size()) < most) {
    const std::size_t found =
        from_right ? (end < separator.size() ? std::string::npos : bytes.rfind(separator, end - separator.size()))
                   : bytes.find(separator, begin);
    if (found == std::string::npos) break;
    if (from_right) {
      pieces.emplace_back(found + separator.size(), end);
      end = found;
    } else {
      pieces.emplace_back(begin, found);
      begin = found + separator.size();
    }
  }
  pieces.emplace_back(begin, end);
  if (from_right) std::reverse(pieces.begin(), pieces.end());
  std::vector<Value> out;
  for (const auto& [from, to] : pieces) out.push_back(runtime.text(text.slice(from, to)));
  return out;
}

std::size_t word_end(std::string_view bytes, std::size_t begin) {
  while (begin < bytes.size() && leading_blank(bytes.substr(begin)) == 0) ++begin;
  return begin;
}

std::size_t word_begin(std::string_view bytes, std::size_t end) {
  while (end > 0 && trailing_blank(bytes.substr(0, end)) == 0) --end;
  return end;
}

std::vector<Value> split_at_blanks(Runtime& runtime, const Text& text, Int most, bool from_right) {
  std::vector<Value> out;
  const auto take = [&](std::size_t begin, std::size_t end) { out.push_back(runtime.text(text.slice(begin, end))); };
  std::string_view rest = strip(std::string_view(text.bytes()));
  std::size_t begin = rest.empty() ? 0 : static_cast<std::size_t>(rest.data() - text.bytes().data());
  std::size_t end = begin + rest.size();
  while (begin < end) {
    rest = std::string_view(text.bytes()).substr(begin, end - begin);
    if (most >= 0 && static_cast<Int>(out.size()) >= most) {
      // Only white space beside the cuts goes.
      from_right ? take(0, end) : take(begin, text.size());
      break;
    }
    if (from_right) {
      const std::size_t cut = word_begin(rest, rest.size());
      take(begin + cut, end);
      end = begin + cut;
      while (end > begin) {
        const std::size_t blank = trailing_blank(rest.substr(0, end - begin));
        if (blank == 0) break;
        end -= blank;
      }
    } else {
      const std::size_t cut = word_end(rest, 0);
      take(begin, begin + cut);
      begin += cut;
      while (begin < end) {
        const std::size_t blank = leading_blank(std::string_view(text.bytes()).substr(begin, end - begin));
        if (blank == 0) break;
        begin += blank;
      }
    }
  }
  if (from_right) std::reverse(out.begin(), out.end());
  return out;
}

Value split_method(Runtime& runtime, const Text& text, const Arguments& arguments, bool from_right) {
  const Parameters given("split()", arguments, {"sep", "maxsplit"});
  const Int most = given.whole(1, -1);
  runtime.budget.read(text.size());
  return runtime.list(given.given(0) == nullptr ? split_at_blanks(runtime, text, most, from_right)
                                                : split_at(runtime, text, given.text(0).bytes(), most, from_right));
}

Value splitlines(Runtime& runtime, const Text& text, const Arguments& arguments) {
  const Parameters given("splitlines()", arguments, {"keepends"});
  const bool keep = given.flag(0, false);
  const std::string& bytes = text.bytes();
  std::vector<Value> out;
  for (std::size_t begin = 0; begin < bytes.size();) {
    const std::size_t end = std::min(bytes.find_first_of("\r\n\v\f\x1c\x1d\x1e", begin), bytes.size());
    const bool pair = end + 1 < bytes.size() && bytes[end] == '\r' && bytes[end + 1] == '\n';
    const std::size_t next = std::min(end + (pair ? 2 : 1), bytes.size());
    out.push_back(runtime.text(text.slice(begin, keep ? next : end)));
    begin = next;
  }
  return runtime.list(std::move(out));
}

Value partition(Runtime& runtime, const Text& text, const Arguments& arguments, bool from_right) {
  const Parameters given("partition()", arguments, {"sep"}, 1);
  const std::string& separator = given.text(0).bytes();
  if (separator.empty()) fail("empty separator");
  const std::size_t at = from_right ? text.bytes().rfind(separator) : text.bytes().find(separator);
  std::vector<Value> out(3, runtime.text({}));
  if (at == std::string::npos) {
    out[from_right ? 2 : 0] = runtime.text(text);
  } else {
    out = {runtime.text(text.slice(0, at)), runtime.text(text.slice(at, at + separator.size())),
           runtime.text(text.slice(at + separator.size(), text.size()))};
  }
  return runtime.list(std::move(out), true);
}

// --- look

// startswith and endswith: one text or a tuple of them, in text[start:end].
Value affix(Runtime& runtime, const Text& whole, const Arguments& arguments, bool at_end) {
  const std::string name = at_end ? "endswith" : "startswith";
  const Parameters given(name + "()", arguments, {at_end ? "suffix" : "prefix", "start", "end"}, 1);
  const Value none;
  const Value part = given.given(1) == nullptr && given.given(2) == nullptr
                         ? Value(std::make_shared<const Text>(whole))
                         : slice(runtime, runtime.text(whole), given.given(1) ? *given[1] : none,
                                 given.given(2) ? *given[2] : none, none);
  const std::string_view bytes = part.bytes();
  const auto fits = [&](const Value& value) {
    if (!value.is_text()) {
      fail(name + " first arg must be str or a tuple of str, not " + std::string(value.type_name()));
    }
    return at_end ? bytes.ends_with(value.bytes()) : bytes.starts_with(value.bytes());
  };
  if (given[0]->is_undefined()) fail(given[0]->reason());
  if (!given[0]->is_tuple()) return Value(fits(*given[0]));
  return Value(std::any_of(given[0]->items().begin(), given[0]->items().end(), fits));
}

// A position in characters, -1 when there is none.
Int find_in(Runtime& runtime, const Text& text, const Arguments& arguments, bool from_right) {
  const Parameters given("find()", arguments, {"sub", "start", "end"}, 1);
  const std::string& bytes = text.bytes();
  runtime.budget.read(bytes.size());
  const auto size = static_cast<Int>(count_characters(bytes));
  const auto clamp = [&](Int position) { return std::clamp(position < 0 ? position + size : position, Int{0}, size); };
  const Int start = given.given(1) ? given.whole(1, 0) : Int{0};
  const Int begin = clamp(start);
  const Int end = clamp(given.given(2) ? given.whole(2, size) : size);
  if (start > size || begin > end) return -1;
  const std::size_t from = character_offset(bytes, static_cast<std::size_t>(begin));
  const std::size_t to = character_offset(bytes, static_cast<std::size_t>(end));
  const std::string_view part = std::string_view(bytes).substr(from, to - from);
  const std::string& wanted = given.text(0).bytes();
  const std::size_t at = from_right ? part.rfind(wanted) : part.find(wanted);
  if (at == std::string_view::npos) return -1;
  return begin + static_cast<Int>(count_characters(part.substr(0, at)));
}

Value index_in(Runtime& runtime, const Text& text, const Arguments& arguments, bool from_right) {
  const Int at = find_in(runtime, text, arguments, from_right);
  if (at < 0) fail("substring not found");
  return Value(at);
}

Value count_in(Runtime& runtime, const Text& text, const Arguments& arguments) {
  const Parameters given("count()", arguments, {"sub"}, 1);
  const std::string& wanted = given.text(0).bytes();
  runtime.budget.read(text.size());
  if (wanted.empty()) return number(count_characters(text.bytes()) + 1);
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.bytes().find(wanted, at)) != std::string::npos; at += wanted.size()) ++count;
  return number(count);
}

template <class Holds>
Value every_character(Runtime& runtime, const Text& text, Holds holds) {
  runtime.budget.read(text.size());
  for (std::size_t i = 0; i < text.size(); i += character_bytes(text.bytes(), i)) {
    if (!holds(std::string_view(text.bytes()).substr(i, character_bytes(text.bytes(), i)))) return Value(false);
  }
  return Value(!text.empty());
}

bool is_ascii_digit(std::string_view c) {
  return c.size() == 1 && c[0] >= '0' && c[0] <= '9';
}

bool has_case(const Text& c) {
  return to_upper(c).bytes() != to_lower(c).bytes();
}

bool is_letter(std::string_view c) {
  return has_case(Text(c, Origin::own)) || character(c, 0) >= 0x2E80;  // East Asian letters have no case
}

Value is_cased(Runtime& runtime, const Text& text, Text (*convert)(const Text&)) {
  runtime.budget.read(text.size());
  return Value(has_case(text) && convert(text).bytes() == text.bytes());
}

// --- make

Value replace(Runtime& runtime, const Text& text, const Arguments& arguments) {
  const Parameters given("replace()", arguments, {"old", "new", "count"}, 2);
  return runtime.text(replace_text(runtime, text, given.text(0), given.text(1), given.whole(2, -1)));
}

Value join(Runtime& runtime, const Text& separator, const Arguments& arguments) {
  const Parameters given("join()", arguments, {"iterable"}, 1);
  Text out;
  std::size_t position = 0;
  for (const Value& each : iterate(runtime, *given[0])) {
    if (!each.is_text()) {
      fail("sequence item " + std::to_string(position) + ": expected str instance, " + std::string(each.type_name()) +
           " found");
    }
    if (position++ > 0) out.append(separator);
    runtime.budget.make(separator.size() + each.text().size());
    out.append(each.text());
  }
  return runtime.text(std::move(out));
}

enum class Side { left, right, both };

Value pad(Runtime& runtime, const Text& text, const Arguments& arguments, Side side) {
  const Parameters given("ljust()", arguments, {"width", "fillchar"}, 1);
  const Text space(" ", Origin::own);
  const Text& fill = given[1] ? given.text(1) : space;
  if (count_characters(fill.bytes()) != 1) fail("The fill character must be exactly one character long");
  const Int missing = std::max(Int{0}, given.whole(0, 0) - static_cast<Int>(count_characters(text.bytes())));
  const Int width = given.whole(0, 0);
  const Int before = side == Side::left ? missing : side == Side::right ? Int{0} : missing / 2 + (missing & width & 1);
  Text out = repeat(runtime, fill, before);
  out.append(text).append(repeat(runtime, fill, missing - before));
  return runtime.text(std::move(out));
}

Value zfill(Runtime& runtime, const Text& text, const Arguments& arguments) {
  const Parameters given("zfill()", arguments, {"width"}, 1);
  const Int missing = given.whole(0, 0) - static_cast<Int>(count_characters(text.bytes()));
  const std::size_t sign = text.bytes().starts_with('-') || text.bytes().starts_with('+') ? 1 : 0;
  Text out = text.slice(0, sign);
  out.append(repeat(runtime, Text("0", Origin::own), missing)).append(text, sign, text.size());
  return runtime.text(std::move(out));
}

Value without_affix(Runtime& runtime, const Text& text, const Arguments& arguments, bool at_end) {
  const Parameters given("removeprefix()", arguments, {"affix"}, 1);
  const std::string& affix = given.text(0).bytes();
  if (at_end && text.bytes().ends_with(affix)) return runtime.text(text.slice(0, text.size() - affix.size()));
  if (!at_end && text.bytes().starts_with(affix)) return runtime.text(text.slice(affix.size(), text.size()));
  return runtime.text(text);
}

// "{} {0} {name}" without what may follow a field's name.
Value format(Runtime& runtime, const Text& text, const Arguments& arguments) {
  const std::string& bytes = text.bytes();
  Text out;
  std::size_t next = 0;
  for (std::size_t i = 0; i < bytes.size();) {
    const char c = bytes[i];
    if ((c == '{' || c == '}') && i + 1 < bytes.size() && bytes[i + 1] == c) {
      out.append(text, i, i + 1);
      i += 2;
      continue;
    }
    if (c == '}') fail("Single '}' encountered in format string");
    if (c != '{') {
      const std::size_t end = std::min(bytes.find_first_of("{}", i), bytes.size());
      out.append(text, i, end);
      i = end;
      continue;
    }
    const std::size_t close = bytes.find('}', i);
    if (close == std::string::npos) fail("expected '}' before end of string");
    const std::string field = bytes.substr(i + 1, close - i - 1);
    i = close + 1;
    const bool is_number = std::all_of(field.begin(), field.end(), [](char d) { return d >= '0' && d <= '9'; });
    const Value* value = nullptr;
    if (is_number && field.size() < 6) {
      const std::size_t position = field.empty() ? next++ : static_cast<std::size_t>(std::stoi(field));
      if (position >= arguments.positional.size()) fail("format() has no argument number " + std::to_string(position));
      value = &arguments.positional[position];
    } else {
      for (const auto& [name, named] : arguments.named) {
        if (name == field) value = &named;
      }
      if (value == nullptr) fail("format() has no argument for the field {" + field + "}");
    }
    const Text shown = to_text(runtime, *value);
    runtime.budget.make(shown.size());
    out.append(shown);
  }
  return runtime.text(std::move(out));
}

template <Text (*convert)(const Text&)>
Value converted(Runtime& runtime, const Text& text, const Arguments& arguments) {
  const Parameters none("this method", arguments, {});
  runtime.budget.read(text.size() * 4);
  return runtime.text(convert(text));
}

struct Named {
  std::string_view name;
  Method method;
};

constexpr Named kMethods[] = {
    {"strip", [](Runtime& r, const Text& t, const Arguments& a) { return strip_method(r, t, a, true, true); }},
    {"lstrip", [](Runtime& r, const Text& t, const Arguments& a) { return strip_method(r, t, a, true, false); }},
    {"rstrip", [](Runtime& r, const Text& t, const Arguments& a) { return strip_method(r, t, a, false, true); }},
    {"split", [](Runtime& r, const Text& t, const Arguments& a) { return split_method(r, t, a, false); }},
    {"rsplit", [](Runtime& r, const Text& t, const Arguments& a) { return split_method(r, t, a, true); }},
    {"splitlines", splitlines},
    {"partition", [](Runtime& r, const Text& t, const Arguments& a) { return partition(r, t, a, false); }},
    {"rpartition", [](Runtime& r, const Text& t, const Arguments& a) { return partition(r, t, a, true); }},
    {"startswith", [](Runtime& r, const Text& t, const Arguments& a) { return affix(r, t, a, false); }},
    {"endswith", [](Runtime& r, const Text& t, const Arguments& a) { return affix(r, t, a, true); }},
    {"find", [](Runtime& r, const Text& t, const Arguments& a) { return Value(find_in(r, t, a, false)); }},
    {"rfind", [](Runtime& r, const Text& t, const Arguments& a) { return Value(find_in(r, t, a, true)); }},
    {"index", [](Runtime& r, const Text& t, const Arguments& a) { return index_in(r, t, a, false); }},
    {"rindex", [](Runtime& r, const Text& t, const Arguments& a) { return index_in(r, t, a, true); }},
    {"count", count_in},
    {"replace", replace},
    {"join", join},
    {"format", format},
    {"upper", converted<to_upper>},
    {"lower", converted<to_lower>},
    {"title", converted<to_title>},
    {"capitalize", converted<to_capitalized>},
    {"ljust", [](Runtime& r, const Text& t, const Arguments& a) { return pad(r, t, a, Side::right); }},
    {"rjust", [](Runtime& r, const Text& t, const Arguments& a) { return pad(r, t, a, Side::left); }},
    {"center", [](Runtime& r, const Text& t, const Arguments& a) { return pad(r, t, a, Side::both); }},
    {"zfill", zfill},
    {"removeprefix", [](Runtime& r, const Text& t, const Arguments& a) { return without_affix(r, t, a, false); }},
    {"removesuffix", [](Runtime& r, const Text& t, const Arguments& a) { return without_affix(r, t, a, true); }},
    {"isdigit", [](Runtime& r, const Text& t, const Arguments&) { return every_character(r, t, is_ascii_digit); }},
    {"isnumeric", [](Runtime& r, const Text& t, const Arguments&) { return every_character(r, t, is_ascii_digit); }},
    {"isdecimal", [](Runtime& r, const Text& t, const Arguments&) { return every_character(r, t, is_ascii_digit); }},
    {"isalpha", [](Runtime& r, const Text& t, const Arguments&) { return every_character(r, t, is_letter); }},
    {"isalnum",
     [](Runtime& r, const Text& t, const Arguments&) {
       return every_character(r, t, [](std::string_view c) { return is_ascii_digit(c) || is_letter(c); });
     }},
    {"isspace",
     [](Runtime& r, const Text& t, const Arguments&) {
       return every_character(r, t, [](std::string_view c) { return leading_blank(c) > 0; });
     }},
    {"isupper", [](Runtime& r, const Text& t, const Arguments&) { return is_cased(r, t, to_upper); }},
    {"islower", [](Runtime& r, const Text& t, const Arguments&) { return is_cased(r, t, to_lower); }},
};

}  // namespace

Text replace_text(Runtime& runtime, const Text& text, const Text& old, const Text& by, Int most) {
  const std::string& bytes = text.bytes();
  const std::string& wanted = old.bytes();
  runtime.budget.read(bytes.size());
  Text out;
  Int count = 0;
  std::size_t done = 0;
  const auto put = [&](std::size_t at) {
    out.append(text, done, at).append(by);
    runtime.budget.make(by.size() + at - done);
    runtime.budget.step();
    ++count;
  };
  if (wanted.empty()) {  // between all characters
    for (std::size_t at = 0; most < 0 || count < most;) {
      put(at);
      done = at;
      if (at >= bytes.size()) break;
      at += character_bytes(bytes, at);
    }
  } else {
    for (std::size_t at = 0; most < 0 || count < most; at += wanted.size()) {
      at = bytes.find(wanted, at);
      if (at == std::string::npos) break;
      put(at);
      done = at + wanted.size();
    }
  }
  out.append(text, done, bytes.size());
  return out;
}

Value text_method(Runtime&, const Value& value, std::string_view name) {
  for (const Named& each : kMethods) {
    if (each.name != name) continue;
    return make_function(name, [value, method = each.method](Runtime& runtime, const Arguments& arguments) {
      return method(runtime, value.text(), arguments);
    });
  }
  return Value::undefined("'str object' has no attribute '" + std::string(name) + "'");
}

}  // namespace glmhost::jinja
