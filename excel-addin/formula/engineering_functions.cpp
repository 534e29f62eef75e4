// Numbers in base 2, 8 and 16 (ten digits, two's complement), bits, and a few special functions.
#include <cmath>
#include <cstdint>
#include <exception>

#include "excel-addin/formula/arguments.h"
#include "excel-addin/formula/families.h"
#include "excel-addin/formula/unit_conversion.h"

namespace glmhost::formula {
namespace {

constexpr int kDigits = 10;

struct Base {
  int radix;
  int bits;  // that ten digits hold
};
constexpr Base kBinary{2, 10}, kOctal{8, 30}, kHexadecimal{16, 40};

// The number that up to ten digits write. Notes #NUM! when they write none.
std::int64_t read_digits(Arguments& a, std::size_t i, const Base& base) {
  if (a[i].scalar().is_boolean()) a.fail(ErrorCode::value);
  if (a[i].scalar().is_omitted()) a.fail(ErrorCode::not_available);
  const std::string digits = a.text(i);
  std::int64_t number = 0;
  if (digits.size() > kDigits) a.fail(ErrorCode::number);
  for (const char c : digits.substr(0, kDigits)) {
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : 99;
    if (digit >= base.radix) {
      a.fail(ErrorCode::number);
      return 0;
    }
    number = number * base.radix + digit;
  }
  const std::int64_t half = std::int64_t{1} << (base.bits - 1);
  return number >= half ? number - 2 * half : number;
}

// With `places` digits at least; a negative number takes all ten.
Value write_digits(Arguments& a, double number, const Base& base, std::size_t places_at) {
  const bool has_places = a.has(places_at);
  const double places = a.whole(places_at, kDigits);
  if (a.error()) return *a.error();
  const double half = std::ldexp(1, base.bits - 1);
  if (number < -half || number >= half) return ErrorCode::number;
  if (places < 1 || places > kDigits) return ErrorCode::number;
  auto rest = static_cast<std::int64_t>(number < 0 ? number + 2 * half : number);
  std::string digits;
  for (; rest > 0 || digits.empty(); rest /= base.radix)
    digits.insert(digits.begin(), "0123456789ABCDEF"[rest % base.radix]);
  if (number >= 0 && has_places) {
    const auto wanted = static_cast<std::size_t>(places);
    if (digits.size() > wanted) return ErrorCode::number;
    digits.insert(0, wanted - digits.size(), '0');
  }
  return digits;
}

template <const Base& base>
Value from_decimal(Arguments& a) {
  return write_digits(a, a.whole(0), base, 1);
}
template <const Base& base>
Value to_decimal_number(Arguments& a) {
  return static_cast<double>(read_digits(a, 0, base));
}
template <const Base& from, const Base& to>
Value between_bases(Arguments& a) {
  return write_digits(a, static_cast<double>(read_digits(a, 0, from)), to, 1);
}

constexpr double kMostBits = 281'474'976'710'655;  // 2^48 - 1

std::uint64_t bits(Arguments& a, std::size_t i) {
  const double number = a.number(i);
  if (number < 0 || number > kMostBits || number != std::floor(number)) {
    a.fail(ErrorCode::number);
    return 0;
  }
  return static_cast<std::uint64_t>(number);
}
Value bitand_(Arguments& a) {
  const std::uint64_t left = bits(a, 0), right = bits(a, 1);
  return static_cast<double>(left & right);
}
Value bitor_(Arguments& a) {
  const std::uint64_t left = bits(a, 0), right = bits(a, 1);
  return static_cast<double>(left | right);
}
Value bitxor_(Arguments& a) {
  const std::uint64_t left = bits(a, 0), right = bits(a, 1);
  return static_cast<double>(left ^ right);
}
Value shifted(Arguments& a, double sign) {
  const auto number = static_cast<double>(bits(a, 0));
  const double shift = a.whole(1) * sign;
  constexpr double kMostShift = 53;
  if (std::abs(shift) > kMostShift) return ErrorCode::number;
  const double result = std::floor(std::ldexp(number, static_cast<int>(shift)));
  return result > kMostBits ? Value(ErrorCode::number) : Value(result);
}
Value bitlshift(Arguments& a) {
  return shifted(a, 1);
}
Value bitrshift(Arguments& a) {
  return shifted(a, -1);
}

Value delta(Arguments& a) {
  const double left = a.number(0), right = a.number_or(1, 0);
  return left == right ? 1 : 0;
}
Value gestep(Arguments& a) {
  const double number = a.number(0), step = a.number_or(1, 0);
  return number >= step ? 1 : 0;
}

Value erf_(Arguments& a) {
  const double from = a.number(0);
  if (!a.given(1)) return std::erf(from);
  return std::erf(a.number(1)) - std::erf(from);
}
Value erf_precise(Arguments& a) {
  return std::erf(a.number(0));
}
Value erfc_(Arguments& a) {
  return std::erfc(a.number(0));
}

// Bessel functions of whole order. Those of -x are those of x, but for the sign where the order is odd.
using Bessel = double (*)(double order, double x);
Value bessel(Arguments& a, Bessel function, bool positive_only) {
  const double x = a.number(0), order = a.whole(1);
  constexpr double kMostOrder = 1e4, kMostX = 1e7;
  if (a.error()) return *a.error();
  if (order < 0 || order > kMostOrder || std::abs(x) > kMostX || (positive_only && x <= 0)) return ErrorCode::number;
  const double parity = x < 0 && std::fmod(order, 2) == 1 ? -1 : 1;
  try {
    return finite(parity * function(order, std::abs(x)));
  } catch (const std::exception&) {  // the library's word for "does not converge"
    return ErrorCode::number;
  }
}
Value besselj(Arguments& a) {
  return bessel(a, std::cyl_bessel_j, false);
}
Value bessely(Arguments& a) {
  return bessel(a, std::cyl_neumann, true);
}
Value besseli(Arguments& a) {
  return bessel(a, std::cyl_bessel_i, false);
}
Value besselk(Arguments& a) {
  return bessel(a, std::cyl_bessel_k, true);
}

Value convert(Arguments& a) {
  const double number = a.number(0);
  const std::string from = a.text(1), to = a.text(2);
  const auto converted = convert_unit(number, from, to);
  return converted ? finite(*converted) : Value(converted.error());
}

constexpr Trait kStrict = Trait::refuses_booleans;
constexpr Function kFunctions[] = {
    {"DEC2BIN", "number, [places]", "A number in binary digits.", from_decimal<kBinary>, kStrict},
    {"DEC2OCT", "number, [places]", "A number in octal digits.", from_decimal<kOctal>, kStrict},
    {"DEC2HEX", "number, [places]", "A number in hexadecimal digits.", from_decimal<kHexadecimal>, kStrict},
    {"BIN2DEC", "digits", "The number that binary digits write.", to_decimal_number<kBinary>, kStrict},
    {"OCT2DEC", "digits", "The number that octal digits write.", to_decimal_number<kOctal>, kStrict},
    {"HEX2DEC", "digits", "The number that hexadecimal digits write.", to_decimal_number<kHexadecimal>, kStrict},
    {"BIN2OCT", "digits, [places]", "Binary digits as octal.", between_bases<kBinary, kOctal>, kStrict},
    {"BIN2HEX", "digits, [places]", "Binary digits as hexadecimal.", between_bases<kBinary, kHexadecimal>, kStrict},
    {"OCT2BIN", "digits, [places]", "Octal digits as binary.", between_bases<kOctal, kBinary>, kStrict},
    {"OCT2HEX", "digits, [places]", "Octal digits as hexadecimal.", between_bases<kOctal, kHexadecimal>, kStrict},
    {"HEX2BIN", "digits, [places]", "Hexadecimal digits as binary.", between_bases<kHexadecimal, kBinary>, kStrict},
    {"HEX2OCT", "digits, [places]", "Hexadecimal digits as octal.", between_bases<kHexadecimal, kOctal>, kStrict},
    {"BITAND", "number1, number2", "The bits that both have.", bitand_},
    {"BITOR", "number1, number2", "The bits that either has.", bitor_},
    {"BITXOR", "number1, number2", "The bits that one alone has.", bitxor_},
    {"BITLSHIFT", "number, shift", "The bits moved left.", bitlshift},
    {"BITRSHIFT", "number, shift", "The bits moved right.", bitrshift},
    {"CONVERT", "number, from_unit, to_unit", "A measure in another unit.", convert, kStrict},
    {"DELTA", "number1, [number2]", "1 when both are equal, else 0.", delta, kStrict},
    {"GESTEP", "number, [step]", "1 from the step on, else 0.", gestep, kStrict},
    {"ERF", "lower, [upper]", "The error function, or its difference.", erf_, kStrict},
    {"ERF.PRECISE", "x", "The error function.", erf_precise},
    {"ERFC", "x", "1 less the error function.", erfc_, kStrict},
    {"ERFC.PRECISE", "x", "1 less the error function.", erfc_},
    {"BESSELJ", "x, order", "The Bessel function J.", besselj, kStrict},
    {"BESSELY", "x, order", "The Bessel function Y.", bessely, kStrict},
    {"BESSELI", "x, order", "The modified Bessel function I.", besseli, kStrict},
    {"BESSELK", "x, order", "The modified Bessel function K.", besselk, kStrict},
};

}  // namespace

std::span<const Function> engineering_functions() {
  return kFunctions;
}

}  // namespace glmhost::formula
