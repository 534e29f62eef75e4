// Complex numbers, which Excel keeps as texts: "3+4i", "-j", "2.5".
#include <cmath>
#include <complex>
#include <numbers>
#include <optional>

#include "excel-addin/formula/arguments.h"
#include "excel-addin/formula/families.h"
#include "excel-addin/formula/number_text.h"

namespace glmhost::formula {
namespace {

using Complex = std::complex<double>;

struct Parsed {
  Complex number;
  char suffix = 0;  // i, j, or none
};

// The length of the number that the text begins with: digits, a point, a power.
std::size_t number_length(std::string_view text) {
  std::size_t i = 0;
  if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
  const auto digits = [&] {
    while (i < text.size() && text[i] >= '0' && text[i] <= '9') ++i;
  };
  digits();
  if (i < text.size() && text[i] == '.') {
    ++i;
    digits();
  }
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    std::size_t power = i + 1;
    if (power < text.size() && (text[power] == '+' || text[power] == '-')) ++power;
    if (power < text.size() && text[power] >= '0' && text[power] <= '9') {
      i = power;
      digits();
    }
  }
  return i;
}

// "", "+" and "-" in front of the suffix are 1 and -1.
std::optional<double> coefficient(std::string_view text) {
  if (text.empty() || text == "+") return 1;
  if (text == "-") return -1;
  return plain_text_to_number(text);
}

std::optional<Parsed> parse_complex(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const char last = text.back();
  if (last != 'i' && last != 'j') {
    if (number_length(text) != text.size()) return std::nullopt;
    const auto real = plain_text_to_number(text);
    return real ? std::optional(Parsed{*real, 0}) : std::nullopt;
  }
  text.remove_suffix(1);
  const std::size_t first = number_length(text);
  // "3+4": the real part ends where another sign follows; else all is the imaginary part.
  if (first == text.size()) {
    const auto imaginary = coefficient(text);
    return imaginary ? std::optional(Parsed{{0, *imaginary}, last}) : std::nullopt;
  }
  const std::string_view rest = text.substr(first);
  if ((rest[0] != '+' && rest[0] != '-') || number_length(rest) != rest.size()) return std::nullopt;
  const auto real = plain_text_to_number(text.substr(0, first));
  const auto imaginary = coefficient(rest);
  if (!real || !imaginary) return std::nullopt;
  return Parsed{{*real, *imaginary}, last};
}

// Reads argument values as complex numbers and sees to it that i and j do not meet.
class Reader {
 public:
  explicit Reader(Arguments& arguments) : arguments_(arguments) {}

  Complex read(const Value& any) {
    const Value& value = any.scalar();
    if (value.is_error()) arguments_.fail(value.error());
    if (value.is_boolean()) arguments_.fail(ErrorCode::value);
    if (value.is_number()) return value.number();
    if (!value.is_text()) return 0;
    const auto parsed = parse_complex(value.text());
    if (!parsed) arguments_.fail(ErrorCode::number);
    if (!parsed) return 0;
    if (parsed->suffix != 0) {
      if (suffix_ != 0 && suffix_ != parsed->suffix) arguments_.fail(ErrorCode::number);
      suffix_ = parsed->suffix;
    }
    return parsed->number;
  }

  Value text(const Complex& number) const {
    const auto usable = [](double part) { return std::isfinite(part); };
    if (!usable(number.real()) || !usable(number.imag())) return ErrorCode::number;
    const double real = number.real(), imaginary = number.imag();
    if (imaginary == 0) return number_to_text(real);
    std::string text = real == 0 ? "" : number_to_text(real);
    const std::string part = number_to_text(imaginary);
    if (!text.empty() && imaginary > 0) text += '+';
    text += part == "1" ? "" : part == "-1" ? "-" : part;
    return text + (suffix_ == 0 ? 'i' : suffix_);
  }

 private:
  Arguments& arguments_;
  char suffix_ = 0;
};

Value complex_(Arguments& a) {
  const double real = a.number(0), imaginary = a.number(1);
  const std::string suffix = a.given(2) ? a.text(2) : "i";
  if (!suffix.empty() && suffix != "i" && suffix != "j") return a.fail(ErrorCode::value);
  if (imaginary == 0) return number_to_text(real);
  const std::string part = number_to_text(imaginary);
  std::string text = real == 0 ? "" : number_to_text(real);
  if (!text.empty() && imaginary > 0) text += '+';
  return text + (part == "1" ? "" : part == "-1" ? "-" : part) + (suffix.empty() ? "i" : suffix);
}

Value imreal(Arguments& a) {
  return Reader(a).read(a[0]).real();
}
Value imaginary(Arguments& a) {
  return Reader(a).read(a[0]).imag();
}
Value imabs(Arguments& a) {
  return finite(std::abs(Reader(a).read(a[0])));
}
Value imargument(Arguments& a) {
  const Complex z = Reader(a).read(a[0]);
  return z == Complex(0) ? Value(ErrorCode::division) : Value(std::arg(z));
}

template <Complex (*f)(const Complex&)>
Value mapped(Arguments& a) {
  Reader reader(a);
  return reader.text(f(reader.read(a[0])));
}

Complex conjugate(const Complex& z) {
  return std::conj(z);
}
Complex exponential(const Complex& z) {
  return std::exp(z);
}
Complex sine(const Complex& z) {
  return std::sin(z);
}
Complex cosine(const Complex& z) {
  return std::cos(z);
}
Complex tangent(const Complex& z) {
  return std::tan(z);
}
Complex cotangent(const Complex& z) {
  return 1.0 / std::tan(z);
}
Complex secant(const Complex& z) {
  return 1.0 / std::cos(z);
}
Complex cosecant(const Complex& z) {
  return 1.0 / std::sin(z);
}
Complex hyperbolic_sine(const Complex& z) {
  return std::sinh(z);
}
Complex hyperbolic_cosine(const Complex& z) {
  return std::cosh(z);
}
Complex hyperbolic_secant(const Complex& z) {
  return 1.0 / std::cosh(z);
}
Complex hyperbolic_cosecant(const Complex& z) {
  return 1.0 / std::sinh(z);
}
Complex square_root(const Complex& z) {
  return std::sqrt(z);
}
Complex logarithm(const Complex& z) {
  return std::log(z);
}
Complex logarithm_2(const Complex& z) {
  return std::log(z) / std::numbers::ln2;
}
Complex logarithm_10(const Complex& z) {
  return std::log(z) / std::numbers::ln10;
}

Value improduct(Arguments& a) {
  Reader reader(a);
  Complex product = 1;
  bool any = false;
  for (const Value& value : a.from(0)) {
    for (const Value& cell : cells_of(value)) {
      if (value.is_array() && cell.is_empty() && value.array().size() > 1) continue;
      product *= reader.read(cell);
      any = true;
    }
  }
  return any ? reader.text(product) : Value("0");
}
Value imsum(Arguments& a) {
  Reader reader(a);
  Complex sum = 0;
  for (const Value& value : a.from(0)) {
    for (const Value& cell : cells_of(value)) sum += reader.read(cell);
  }
  return reader.text(sum);
}
Value imsub(Arguments& a) {
  Reader reader(a);
  const Complex left = reader.read(a[0]), right = reader.read(a[1]);
  return reader.text(left - right);
}
Value imdiv(Arguments& a) {
  Reader reader(a);
  const Complex above = reader.read(a[0]), below = reader.read(a[1]);
  return below == Complex(0) ? Value(ErrorCode::number) : reader.text(above / below);
}
Value impower(Arguments& a) {
  Reader reader(a);
  const Complex base = reader.read(a[0]);
  const double power = a.number(1);
  if (base == Complex(0)) return power > 0 ? Value("0") : Value(ErrorCode::number);
  return reader.text(std::polar(std::pow(std::abs(base), power), std::arg(base) * power));
}

constexpr Function kFunctions[] = {
    {"COMPLEX", "real, imaginary, [suffix]", "A complex number from its parts.", complex_, Trait::refuses_booleans},
    {"IMREAL", "number", "The real part.", imreal},
    {"IMAGINARY", "number", "The imaginary part.", imaginary},
    {"IMABS", "number", "The absolute value.", imabs},
    {"IMARGUMENT", "number", "The angle.", imargument},
    {"IMCONJUGATE", "number", "The conjugate.", mapped<conjugate>},
    {"IMEXP", "number", "e to a complex power.", mapped<exponential>},
    {"IMSIN", "number", "The sine.", mapped<sine>},
    {"IMCOS", "number", "The cosine.", mapped<cosine>},
    {"IMTAN", "number", "The tangent.", mapped<tangent>},
    {"IMCOT", "number", "The cotangent.", mapped<cotangent>},
    {"IMSEC", "number", "The secant.", mapped<secant>},
    {"IMCSC", "number", "The cosecant.", mapped<cosecant>},
    {"IMSINH", "number", "The hyperbolic sine.", mapped<hyperbolic_sine>},
    {"IMCOSH", "number", "The hyperbolic cosine.", mapped<hyperbolic_cosine>},
    {"IMSECH", "number", "The hyperbolic secant.", mapped<hyperbolic_secant>},
    {"IMCSCH", "number", "The hyperbolic cosecant.", mapped<hyperbolic_cosecant>},
    {"IMSQRT", "number", "The square root.", mapped<square_root>},
    {"IMLN", "number", "The natural logarithm.", mapped<logarithm>},
    {"IMLOG2", "number", "The logarithm to base 2.", mapped<logarithm_2>},
    {"IMLOG10", "number", "The logarithm to base 10.", mapped<logarithm_10>},
    {"IMPRODUCT", "*number1, [*number2], ...", "The product.", improduct},
    {"IMSUM", "*number1, [*number2], ...", "The sum.", imsum},
    {"IMSUB", "number1, number2", "The difference.", imsub},
    {"IMDIV", "number1, number2", "The quotient.", imdiv},
    {"IMPOWER", "number, power", "A complex number to a power.", impower},
};

}  // namespace

std::span<const Function> complex_functions() {
  return kFunctions;
}

}  // namespace glmhost::formula
