// Filters that make text and numbers.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "inference/chat/jinja/runtime.h"

namespace glmhost::jinja {
namespace {

Text soft_text(Runtime& runtime, const Value& value) {
  Text text = to_text(runtime, value);
  runtime.budget.read(text.size());
  return text;
}

template <Text (*convert)(const Text&)>
Value converted(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters none("this filter", arguments, {});
  const Text text = soft_text(runtime, input);
  runtime.budget.read(text.size() * 4);
  return runtime.text(convert(text));
}

Value trim(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters given("trim", arguments, {"chars"});
  const Text text = soft_text(runtime, input);
  return runtime.text(given.given(0) ? strip(text, given.text(0).bytes(), true, true) : strip(text, true, true));
}

// A word begins behind white space and opening brackets and hyphens; its first letter becomes a capital.
Value title(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters none("title", arguments, {});
  const Text text = soft_text(runtime, input);
  Text out;
  std::size_t begin = 0;
  const auto put = [&](std::size_t end) {
    out.append(to_capitalized(text.slice(begin, end)));
    begin = end;
  };
  bool in_gap = false;
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = std::string_view(text.bytes()).substr(i);
    const bool gap = leading_blank(rest) > 0 || std::string_view("-({[<").find(rest[0]) != std::string_view::npos;
    if (gap != in_gap) put(i);
    in_gap = gap;
    i += character_bytes(text.bytes(), i);
  }
  put(text.size());
  return runtime.text(std::move(out));
}

Value replace(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters given("replace", arguments, {"old", "new", "count"}, 2);
  const Int most = given.given(2) ? given.whole(2, -1) : Int{-1};
  return runtime.text(replace_text(runtime, soft_text(runtime, input), soft_text(runtime, *given[0]),
                                   soft_text(runtime, *given[1]), most));
}

Value string_filter(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters none("string", arguments, {});
  return input.is_text() ? input : runtime.text(to_text(runtime, input));
}

Value same(Runtime&, const Value& input, const Arguments&) {
  return input;
}

Value escape(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters none("escape", arguments, {});
  Text text = soft_text(runtime, input);
  constexpr std::pair<const char*, const char*> kEntities[] = {
      {"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&#34;"}, {"'", "&#39;"}};
  for (const auto& [character, entity] : kEntities) {
    text = replace_text(runtime, text, Text(character, Origin::own), Text(entity, Origin::own), -1);
  }
  return runtime.text(std::move(text));
}

// Every line but the first, and but the empty ones, is moved in.
Value indent(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters given("indent", arguments, {"width", "first", "blank"});
  if (!input.is_text()) fail("indent needs a string, not " + std::string(input.type_name()));
  const Text margin =
      given[0] && given[0]->is_text() ? given.text(0) : repeat(runtime, Text(" ", Origin::own), given.whole(0, 4));
  const bool blank = given.flag(2, false);
  const Text& text = input.text();
  const std::string& bytes = text.bytes();
  Text out;
  std::size_t begin = 0;
  for (bool is_first = true; begin < bytes.size(); is_first = false) {
    const std::size_t end = std::min(bytes.find('\n', begin), bytes.size());
    if (is_first ? given.flag(1, false) : blank || end > begin) {
      runtime.budget.make(margin.size());
      out.append(margin);
    }
    const std::size_t next = std::min(end + 1, bytes.size());
    out.append(text, begin, next);
    begin = next;
    runtime.budget.step();
  }
  return runtime.text(std::move(out));
}

Value center(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters given("center", arguments, {"width"});
  Arguments width;
  width.positional.emplace_back(given.whole(0, 80));
  return attribute(runtime, runtime.text(to_text(runtime, input)), "center").function().call(runtime, width);
}

Value format(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Text text = soft_text(runtime, input);
  if (arguments.named.empty()) {
    return runtime.text(format_percent(runtime, text, runtime.list(arguments.positional, true)));
  }
  Dict dict;
  for (const auto& [name, value] : arguments.named) dict.set(runtime.own(name), value);
  return runtime.text(format_percent(runtime, text, runtime.dict(std::move(dict))));
}

Value tojson(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters given("tojson", arguments, {"ensure_ascii", "indent", "separators", "sort_keys"});
  JsonStyle style;
  style.ensure_ascii = given.flag(0, false);
  style.sort_keys = given.flag(3, false);
  if (const Value* indent = given.given(1)) {
    style.indent =
        indent->is_text() ? indent->bytes() : repeat(runtime, Text(" ", Origin::own), given.whole(1, 0)).bytes();
  }
  if (const Value* separators = given.given(2)) {
    if (!separators->is_list() || separators->items().size() != 2 || !separators->items()[0].is_text() ||
        !separators->items()[1].is_text()) {
      fail("the separators of tojson must be two strings");
    }
    style.item_separator = separators->items()[0].bytes();
    style.key_separator = separators->items()[1].bytes();
  }
  return runtime.text(to_json(runtime, input, style));
}

// --- numbers

Value absolute(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters none("abs", arguments, {});
  if (input.is_undefined()) fail(input.reason());
  if (!input.is_number()) fail("bad operand type for abs(): '" + std::string(input.type_name()) + "'");
  if (input.is_float()) return Value(std::abs(input.number()));
  return input.whole() < 0 ? negate(runtime, input) : Value(input.whole());
}

// Digits of a text, as int() and float() take them: blanks around, "_" between.
std::string plain_number(std::string_view text) {
  text = strip(text);
  std::string digits;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool between = i > 0 && i + 1 < text.size() && std::isdigit(static_cast<unsigned char>(text[i - 1])) != 0 &&
                         std::isalnum(static_cast<unsigned char>(text[i + 1])) != 0;
    if (text[i] != '_' || !between) digits += text[i];
  }
  return digits;
}

bool parse_int(std::string_view text, Int base, Int& out) {
  std::string digits = plain_number(text);
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.erase(0, 1);
  for (const auto& [prefix, of_base] : {std::pair("0x", 16), {"0o", 8}, {"0b", 2}}) {
    std::string start = digits.substr(0, 2);
    std::transform(start.begin(), start.end(), start.begin(), [](unsigned char c) { return std::tolower(c); });
    if (base == of_base && start == prefix) digits.erase(0, 2);
  }
  if (digits.empty()) return false;
  out = 0;
  for (const char c : digits) {
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'z' ? c - 'a' + 10
                      : c >= 'A' && c <= 'Z' ? c - 'A' + 10
                                             : 99;
    if (digit >= base) return false;
    if (__builtin_mul_overflow(out, base, &out) || __builtin_add_overflow(out, Int{digit}, &out)) {
      throw Fault{Failure::limit, "it computes an integer of more than 127 bits"};
    }
  }
  if (negative) out = -out;
  return true;
}

bool parse_float(std::string_view text, double& out) {
  std::string digits = plain_number(text);
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.erase(0, 1);
  if (digits.starts_with('-') || digits.starts_with('+')) return false;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
  if (end != digits.data() + digits.size() || digits.empty()) return false;
  if (error == std::errc::result_out_of_range) out = digits.find("e-") == std::string::npos ? HUGE_VAL : 0.0;
  if (negative) out = -out;
  return error == std::errc() || error == std::errc::result_out_of_range;
}

Value truncated(double number) {
  if (!(std::abs(number) < 1e38)) throw Fault{Failure::limit, "it computes an integer of more than 127 bits"};
  return Value(static_cast<Int>(number));
}

Value to_int(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters given("int", arguments, {"default", "base"});
  if (input.is_undefined()) fail(input.reason());
  const Int base = given.whole(1, 10);
  if (base < 2 || base > 36) fail("int() base must be >= 2 and <= 36");
  if (input.is_whole()) return Value(input.whole());
  if (input.is_float() && std::isfinite(input.number())) return truncated(input.number());
  if (input.is_text()) {
    runtime.budget.read(input.text().size());
    Int whole = 0;
    double number = 0;
    if (parse_int(input.bytes(), base, whole)) return Value(whole);
    if (parse_float(input.bytes(), number) && std::isfinite(number)) return truncated(number);
  }
  return given[0] ? *given[0] : Value(Int{0});
}

Value to_float(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters given("float", arguments, {"default"});
  if (input.is_undefined()) fail(input.reason());
  if (input.is_number()) return Value(input.number());
  if (input.is_text()) {
    runtime.budget.read(input.text().size());
    double number = 0;
    if (parse_float(input.bytes(), number)) return Value(number);
  }
  return given[0] ? *given[0] : Value(0.0);
}

Value round_filter(Runtime&, const Value& input, const Arguments& arguments) {
  const Parameters given("round", arguments, {"precision", "method"});
  if (input.is_undefined()) fail(input.reason());
  if (!input.is_number()) fail("round needs a number, not " + std::string(input.type_name()));
  const std::string method = given[1] ? given.text(1).bytes() : "common";
  if (input.is_whole() && method == "common" && given.whole(0, 0) >= 0) return Value(input.whole());
  const double scale = std::pow(10.0, static_cast<double>(given.whole(0, 0)));
  const double moved = input.number() * scale;
  if (method == "ceil") return Value(std::ceil(moved) / scale);
  if (method == "floor") return Value(std::floor(moved) / scale);
  if (method != "common") fail("method must be common, ceil or floor");
  return Value(std::nearbyint(moved) / scale);  // halves go to the even neighbour
}

struct Named {
  std::string_view name;
  Filter filter;
};

constexpr Named kFilters[] = {
    {"upper", converted<to_upper>},
    {"lower", converted<to_lower>},
    {"capitalize", converted<to_capitalized>},
    {"title", title},
    {"trim", trim},
    {"replace", replace},
    {"string", string_filter},
    {"safe", same},
    {"escape", escape},
    {"e", escape},
    {"indent", indent},
    {"center", center},
    {"format", format},
    {"tojson", tojson},
    {"abs", absolute},
    {"int", to_int},
    {"float", to_float},
    {"round", round_filter},
};

}  // namespace

Filter find_text_filter(std::string_view name) {
  for (const Named& each : kFilters) {
    if (each.name == name) return each.filter;
  }
  return nullptr;
}

}  // namespace glmhost::jinja
