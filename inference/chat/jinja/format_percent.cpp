// Python's "..." % values, for %s %r %d %i %x %X %o %f %e %g %c and %%.
#include <array>
#include <cmath>
#include <cstdio>

#include "inference/chat/jinja/runtime.h"

namespace glmhost::jinja {
namespace {

struct Field {
  bool left = false, zeros = false, plus = false, blank = false;
  int width = 0;
  int precision = -1;
  char kind = 's';
};

class Formatter {
 public:
  Formatter(Runtime& runtime, const Text& format, const Value& values)
      : runtime_(runtime), format_(format), bytes_(format.bytes()), values_(values) {}

  Text run() {
    while (at_ < bytes_.size()) {
      const std::size_t percent = std::min(bytes_.find('%', at_), bytes_.size());
      out_.append(format_, at_, percent);
      at_ = percent;
      if (at_ < bytes_.size()) directive();
    }
    const bool all_used = values_.is_tuple() ? next_ == values_.items().size() : next_ > 0 || values_.is_dict();
    if (!all_used) fail("not all arguments converted during string formatting");
    return std::move(out_);
  }

 private:
  char peek() const {
    if (at_ >= bytes_.size()) fail("incomplete format");
    return bytes_[at_];
  }

  int digits() {
    int number = 0;
    for (; at_ < bytes_.size() && bytes_[at_] >= '0' && bytes_[at_] <= '9'; ++at_) {
      number = number * 10 + (bytes_[at_] - '0');
      if (number > 100'000) throw Fault{Failure::limit, "it formats a field wider than 100000 characters"};
    }
    return number;
  }

  void directive() {
    ++at_;
    const Value* named = nullptr;
    if (peek() == '(') {
      const std::size_t close = bytes_.find(')', at_);
      if (close == std::string::npos) fail("incomplete format key");
      if (!values_.is_dict()) fail("format requires a mapping");
      named = values_.dict().find(std::string_view(bytes_).substr(at_ + 1, close - at_ - 1));
      if (named == nullptr) fail("the format's key is not in the mapping");
      at_ = close + 1;
    }
    Field field;
    for (; std::string_view("-0+ #").find(peek()) != std::string_view::npos; ++at_) {
      field.left = field.left || peek() == '-';
      field.zeros = field.zeros || peek() == '0';
      field.plus = field.plus || peek() == '+';
      field.blank = field.blank || peek() == ' ';
    }
    field.width = digits();
    if (peek() == '.') {
      ++at_;
      field.precision = digits();
    }
    field.kind = peek();
    ++at_;
    if (field.kind == '%') {
      out_.append("%", Origin::own);
      return;
    }
    put(field, named != nullptr ? *named : next());
  }

  const Value& next() {
    if (!values_.is_tuple()) {
      if (next_++ > 0) fail("not enough arguments for format string");
      return values_;
    }
    if (next_ >= values_.items().size()) fail("not enough arguments for format string");
    return values_.items()[next_++];
  }

  void put(const Field& field, const Value& value) {
    Text shown = convert(field, value);
    const std::size_t length = count_characters(shown.bytes());
    if (field.precision >= 0 && (field.kind == 's' || field.kind == 'r')) {
      shown = shown.slice(0, character_offset(shown.bytes(), static_cast<std::size_t>(field.precision)));
    }
    const std::size_t kept = std::min(length, count_characters(shown.bytes()));
    const std::size_t missing =
        static_cast<std::size_t>(field.width) > kept ? static_cast<std::size_t>(field.width) - kept : 0;
    runtime_.budget.make(shown.size() + missing);
    const bool is_number = field.kind != 's' && field.kind != 'r' && field.kind != 'c';
    if (field.left) {
      out_.append(shown).append(std::string(missing, ' '), Origin::own);
    } else if (field.zeros && is_number) {
      const std::size_t sign = shown.bytes().find_first_of("+- ") == 0 ? 1 : 0;
      out_.append(shown, 0, sign).append(std::string(missing, '0'), Origin::own).append(shown, sign, shown.size());
    } else {
      out_.append(std::string(missing, ' '), Origin::own).append(shown);
    }
  }

  Text convert(const Field& field, const Value& value) {
    switch (field.kind) {
      case 's':
        return to_text(runtime_, value);
      case 'r': {
        Text out;
        append_repr(runtime_, value, out);
        return out;
      }
      case 'c':
        if (value.is_text() && count_characters(value.bytes()) == 1) return value.text();
        fail("%c requires a character");
      case 'd':
      case 'i':
      case 'u':
      case 'x':
      case 'X':
      case 'o':
        return Text(signed_text(field, whole(field, value)), Origin::own);
      case 'f':
      case 'F':
      case 'e':
      case 'E':
      case 'g':
      case 'G':
        return Text(real(field, value), Origin::own);
      default:
        fail(std::string("unsupported format character '") + field.kind + "'");
    }
  }

  static Int whole(const Field& field, const Value& value) {
    if (value.is_undefined()) fail(value.reason());
    if (value.is_whole()) return value.whole();
    const bool decimal = field.kind == 'd' || field.kind == 'i' || field.kind == 'u';
    if (value.is_float() && decimal && std::abs(value.number()) < 1e38) return static_cast<Int>(value.number());
    fail(std::string("%") + field.kind + " format: a number is required, not " + std::string(value.type_name()));
  }

  static std::string signed_text(const Field& field, Int number) {
    const bool negative = number < 0;
    std::string digits;
    if (field.kind == 'd' || field.kind == 'i' || field.kind == 'u') {
      digits = int_text(number).substr(negative ? 1 : 0);
    } else {
      const int base = field.kind == 'o' ? 8 : 16;
      const std::string_view symbols = field.kind == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
      do {
        const int digit = static_cast<int>(number % base);
        digits.insert(digits.begin(), symbols[static_cast<std::size_t>(digit < 0 ? -digit : digit)]);
        number /= base;
      } while (number != 0);
    }
    if (field.precision > static_cast<int>(digits.size())) {
      digits.insert(0, static_cast<std::size_t>(field.precision) - digits.size(), '0');
    }
    return (negative ? "-" : field.plus ? "+" : field.blank ? " " : "") + digits;
  }

  static std::string real(const Field& field, const Value& value) {
    if (value.is_undefined()) fail(value.reason());
    if (!value.is_number()) fail("must be real number, not " + std::string(value.type_name()));
    const int precision = field.precision < 0 ? 6 : field.precision;
    if (precision > 300) throw Fault{Failure::limit, "it formats a number with more than 300 digits"};
    std::array<char, 768> buffer{};
    const char pattern[] = {'%', '.', '*', field.kind, '\0'};
    std::snprintf(buffer.data(), buffer.size(), pattern, precision, value.number());
    const std::string shown = buffer.data();
    return (shown[0] == '-' ? "" : field.plus ? "+" : field.blank ? " " : "") + shown;
  }

  Runtime& runtime_;
  const Text& format_;
  const std::string& bytes_;
  const Value& values_;
  Text out_;
  std::size_t at_ = 0;
  std::size_t next_ = 0;
};

}  // namespace

Text format_percent(Runtime& runtime, const Text& format, const Value& values) {
  runtime.budget.read(format.size());
  return Formatter(runtime, format, values).run();
}

}  // namespace glmhost::jinja
