#include "inference/chat/jinja/python_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace glmhost::jinja {
namespace {

// Characters for which Python's str.isspace() holds and that take two or three bytes.
constexpr std::array<std::string_view, 19> kWideBlanks = {
    "\u0085", "\u00a0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005", "\u2006",
    "\u2007", "\u2008", "\u2009", "\u200a", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000"};

bool is_narrow_blank(char byte) {
  return (byte >= '\t' && byte <= '\r') || (byte >= '\x1c' && byte <= '\x1f') || byte == ' ';
}

void append_string(std::string& out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += '"';
  for (const char byte : text) {
    switch (byte) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      default:
        if (static_cast<unsigned char>(byte) < 0x20) {
          out += "\\u00";
          out += kHex[static_cast<unsigned char>(byte) >> 4];
          out += kHex[static_cast<unsigned char>(byte) & 15];
        } else {
          out += byte;
        }
    }
  }
  out += '"';
}

class Dumper {
 public:
  explicit Dumper(int indent) : indent_(indent) {}

  void append(const Json& value, int depth) {
    if (value.is_object()) {
      append_items(value, depth, '{', '}');
    } else if (value.is_array()) {
      append_items(value, depth, '[', ']');
    } else if (value.is_string()) {
      append_string(out_, value.get_ref<const std::string&>());
    } else if (value.is_number_float()) {
      out_ += repr(value.get<double>());
    } else if (value.is_number_unsigned()) {
      out_ += std::to_string(value.get<std::uint64_t>());
    } else if (value.is_number_integer()) {
      out_ += std::to_string(value.get<std::int64_t>());
    } else if (value.is_boolean()) {
      out_ += value.get<bool>() ? "true" : "false";
    } else {
      out_ += "null";
    }
  }

  std::string take() { return std::move(out_); }

 private:
  void append_items(const Json& value, int depth, char open, char close) {
    out_ += open;
    bool first = true;
    for (auto item = value.begin(); item != value.end(); ++item) {
      if (!first) out_ += indent_ == 0 ? ", " : ",";
      first = false;
      break_line(depth + 1);
      if (value.is_object()) {
        append_string(out_, item.key());
        out_ += ": ";
      }
      append(item.value(), depth + 1);
    }
    if (!first) break_line(depth);
    out_ += close;
  }

  void break_line(int depth) {
    if (indent_ == 0) return;
    out_ += '\n';
    out_.append(static_cast<std::size_t>(depth) * static_cast<std::size_t>(indent_), ' ');
  }

  int indent_;
  std::string out_;
};

}  // namespace

std::size_t leading_blank(std::string_view text) {
  if (text.empty()) return 0;
  if (is_narrow_blank(text.front())) return 1;
  for (const std::string_view blank : kWideBlanks) {
    if (text.starts_with(blank)) return blank.size();
  }
  return 0;
}

std::size_t trailing_blank(std::string_view text) {
  if (text.empty()) return 0;
  if (is_narrow_blank(text.back())) return 1;
  for (const std::string_view blank : kWideBlanks) {
    if (text.ends_with(blank)) return blank.size();
  }
  return 0;
}

std::string_view strip(std::string_view text) {
  while (const std::size_t bytes = leading_blank(text)) text.remove_prefix(bytes);
  while (const std::size_t bytes = trailing_blank(text)) text.remove_suffix(bytes);
  return text;
}

std::string_view strip_left(std::string_view text, char byte) {
  while (text.starts_with(byte)) text.remove_prefix(1);
  return text;
}

std::string_view strip_right(std::string_view text, char byte) {
  while (text.ends_with(byte)) text.remove_suffix(1);
  return text;
}

std::string repr(double value) {
  if (std::isnan(value)) return "NaN";  // json.dumps writes these three, though no JSON text can hold them
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  std::array<char, 64> buffer{};
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific).ptr;
  const std::string_view scientific(buffer.data(), static_cast<std::size_t>(end - buffer.data()));

  const std::size_t e = scientific.find('e');
  const int exponent = std::atoi(buffer.data() + e + 1);
  std::string out;
  std::string digits;
  for (const char c : scientific.substr(0, e)) {
    if (c == '-') out += '-';
    if (c >= '0' && c <= '9') digits += c;
  }
  // Python writes an exponent below 1e-4 and from 1e16 on, with at least two digits.
  if (exponent < -4 || exponent >= 16) {
    out += digits[0];
    if (digits.size() > 1) out += '.' + digits.substr(1);
    out += exponent < 0 ? "e-" : "e+";
    const std::string power = std::to_string(std::abs(exponent));
    return out + (power.size() < 2 ? "0" + power : power);
  }
  if (exponent < 0) return out + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  const auto whole = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() < whole) digits.append(whole - digits.size(), '0');
  const std::string fraction = digits.substr(whole);
  return out + digits.substr(0, whole) + '.' + (fraction.empty() ? "0" : fraction);
}

std::string dump(const Json& value, int indent) {
  Dumper dumper(indent);
  dumper.append(value, 0);
  return dumper.take();
}

}  // namespace glmhost::jinja
