#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "excel-addin/formula/arguments.h"
#include "excel-addin/formula/calendar.h"
#include "excel-addin/formula/families.h"

namespace glmhost::formula {
namespace {

constexpr double kMostExact = 9'007'199'254'740'992;  // 2^53

Value abs(Arguments& a) {
  return std::abs(a.number(0));
}
Value sign(Arguments& a) {
  const double x = a.number(0);
  return x > 0 ? 1 : x < 0 ? -1 : 0;
}
Value exp(Arguments& a) {
  return finite(std::exp(a.number(0)));
}
Value power(Arguments& a) {
  const double base = a.number(0), exponent = a.number(1);
  if (base == 0 && exponent == 0) return ErrorCode::number;
  if (base == 0 && exponent < 0) return ErrorCode::division;
  return finite(std::pow(base, exponent));
}
Value sqrt(Arguments& a) {
  return finite(std::sqrt(a.number(0)));
}
Value sqrtpi(Arguments& a) {
  return finite(std::sqrt(a.number(0) * std::numbers::pi));
}
Value ln(Arguments& a) {
  const double x = a.number(0);
  return x > 0 ? Value(std::log(x)) : Value(ErrorCode::number);
}
Value log10(Arguments& a) {
  const double x = a.number(0);
  return x > 0 ? Value(std::log10(x)) : Value(ErrorCode::number);
}
Value log(Arguments& a) {
  const double x = a.number(0), base = a.number(1, 10);
  if (x <= 0 || base <= 0) return ErrorCode::number;
  if (base == 1) return ErrorCode::division;
  if (base == 10) return std::log10(x);
  return finite(base == 2 ? std::log2(x) : std::log(x) / std::log(base));
}

// n (n - step) (n - 2 step) ...
double falling_product(double n, double step) {
  double product = 1;
  for (; n > 1; n -= step) product *= n;
  return product;
}
Value fact(Arguments& a) {
  const double n = a.number(0);
  if (n < 0 || n >= 171) return ErrorCode::number;
  return falling_product(std::trunc(n), 1);
}
Value factdouble(Arguments& a) {
  const double n = a.number(0);
  if (n < -1 || n >= 301) return ErrorCode::number;
  return falling_product(std::trunc(n), 2);
}

// C(n, k). Kept whole at each step, so it is exact as long as it fits into 53 bits.
double binomial(double n, double k) {
  k = std::min(k, n - k);
  double result = 1;
  for (double i = 1; i <= k && std::isfinite(result); ++i) {
    const double next = result * (n - k + i);
    result = next < kMostExact ? std::round(next / i) : next / i;
  }
  return result;
}
Value combin(Arguments& a) {
  const double n = a.whole(0), k = a.whole(1);
  if (n < 0 || k < 0 || n < k) return ErrorCode::number;
  return finite(binomial(n, k));
}
Value combina(Arguments& a) {
  const double n = a.whole(0), k = a.whole(1);
  if (n < 0 || k < 0) return ErrorCode::number;
  if (k == 0) return 1.0;
  if (n == 0) return ErrorCode::number;
  return finite(binomial(n + k - 1, k));
}
Value multinomial(Arguments& a) {
  double total = 0, result = 1;
  for (const double number : numbers_of(a, 0)) {
    const double n = std::trunc(number);
    if (n < 0) return a.fail(ErrorCode::number);
    total += n;
    result *= binomial(total, n);
  }
  return finite(result);
}

double gcd_of(double a, double b) {
  while (b != 0) a = std::exchange(b, std::fmod(a, b));
  return a;
}

// The whole numbers of GCD and LCM: text counts as the number it names, in arrays too; booleans are refused.
std::vector<double> divisors(Arguments& a) {
  std::vector<double> numbers;
  for (const Value& value : a.from(0)) {
    for (const Value& cell : cells_of(value)) {
      if (cell.is_empty() && !cell.is_omitted()) continue;
      if (cell.is_omitted()) a.fail(ErrorCode::not_available);
      if (cell.is_boolean()) a.fail(ErrorCode::value);
      const auto number = to_number(cell);
      if (!number) a.fail(number.error());
      numbers.push_back(number ? std::floor(*number) : 0);
    }
  }
  // Empty cells alone are #VALUE!, an empty range is 0.
  const bool has_range = std::ranges::any_of(a.from(0), [](const Value& value) { return cells_of(value).size() > 1; });
  if (numbers.empty() && !has_range) a.fail(ErrorCode::value);
  for (double& number : numbers) {
    if (number < 0 || number > kMostExact) a.fail(ErrorCode::number);
    number = std::abs(number);
  }
  return numbers;
}
Value gcd(Arguments& a) {
  const auto numbers = divisors(a);
  return std::accumulate(numbers.begin(), numbers.end(), 0.0, gcd_of);
}
Value lcm(Arguments& a) {
  const auto numbers = divisors(a);
  if (numbers.empty() || std::ranges::find(numbers, 0.0) != numbers.end()) return 0.0;
  double result = 1;
  for (const double number : numbers) result = result / gcd_of(result, number) * number;
  return result < kMostExact ? Value(result) : Value(ErrorCode::number);
}

Value roman(Arguments& a) {
  const double number = a.whole(0);
  double form = 0;
  if (a.given(1)) form = a[1].is_boolean() ? (a[1].boolean() ? 0 : 4) : a.whole(1);
  if (number < 0 || number > 3999 || form < 0 || form > 4) return ErrorCode::value;
  // Each form lets smaller letters stand before larger ones: XC, then VC, IC, ...
  struct Sign {
    int value;
    const char* letters;
    int least_form;
  };
  constexpr Sign kSigns[] = {{1000, "M", 0}, {999, "IM", 4}, {995, "VM", 3}, {990, "XM", 2}, {950, "LM", 1},
                             {900, "CM", 0}, {500, "D", 0},  {499, "ID", 4}, {495, "VD", 3}, {490, "XD", 2},
                             {450, "LD", 1}, {400, "CD", 0}, {100, "C", 0},  {99, "IC", 2},  {95, "VC", 1},
                             {90, "XC", 0},  {50, "L", 0},   {49, "IL", 2},  {45, "VL", 1},  {40, "XL", 0},
                             {10, "X", 0},   {9, "IX", 0},   {5, "V", 0},    {4, "IV", 0},   {1, "I", 0}};
  int rest = static_cast<int>(number);
  std::string text;
  for (const Sign& sign : kSigns) {
    if (sign.least_form > form) continue;
    for (; rest >= sign.value; rest -= sign.value) text += sign.letters;
  }
  return text;
}

Value arabic(Arguments& a) {
  std::string text = a.text(0);
  if (text.size() > 255) return ErrorCode::value;
  text.erase(0, text.find_first_not_of(' ') == std::string::npos ? text.size() : text.find_first_not_of(' '));
  text.erase(text.find_last_not_of(' ') + 1);
  const bool negative = text.starts_with('-');
  if (negative) text.erase(0, 1);
  double total = 0, largest = 0;
  for (auto letter = text.rbegin(); letter != text.rend(); ++letter) {
    constexpr std::string_view kLetters = "IVXLCDMivxlcdm";
    constexpr double kValues[] = {1, 5, 10, 50, 100, 500, 1000};
    const std::size_t place = kLetters.find(*letter);
    if (place == std::string_view::npos) return ErrorCode::value;
    const double value = kValues[place % 7];
    total += value < largest ? -value : value;
    largest = std::max(largest, value);
  }
  return negative ? -total : total;
}

Value base(Arguments& a) {
  double number = a.whole(0);
  const double radix = a.whole(1), least_length = a.whole(2);
  if (number < 0 || number >= kMostExact || radix < 2 || radix > 36 || least_length < 0 || least_length > 255) {
    return ErrorCode::number;
  }
  std::string digits;
  for (; number > 0; number = std::floor(number / radix)) {
    digits.insert(digits.begin(), "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[static_cast<int>(std::fmod(number, radix))]);
  }
  const auto length = static_cast<std::size_t>(std::max(least_length, 1.0));
  if (digits.size() < length) digits.insert(0, length - digits.size(), '0');
  return digits;
}

Value decimal(Arguments& a) {
  std::string text = a.text(0);
  const double radix = a.whole(1);
  if (radix < 2 || radix > 36) return ErrorCode::number;
  if (text.size() > 255) return ErrorCode::value;
  std::erase(text, ' ');
  double number = 0;
  for (const char c : text) {
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'z' ? c - 'a' + 10
                      : c >= 'A' && c <= 'Z' ? c - 'A' + 10
                                             : 99;
    if (digit >= radix) return ErrorCode::number;
    number = number * radix + digit;
  }
  return finite(number);
}

Value sum(Arguments& a) {
  return finite(sum_of(numbers_of(a, 0)));
}
Value sumsq(Arguments& a) {
  CompensatedSum sum;
  for (const double x : numbers_of(a, 0)) sum.add(x * x);
  return finite(sum.value());
}
Value product(Arguments& a) {
  const auto numbers = numbers_of(a, 0);
  if (numbers.empty()) return 0.0;
  return finite(std::accumulate(numbers.begin(), numbers.end(), 1.0, std::multiplies<>()));
}

Value sumproduct(Arguments& a) {
  const std::size_t rows = rows_of(a[0]), columns = columns_of(a[0]);
  for (const Value& value : a.from(0)) {
    for (const Value& cell : cells_of(value)) a.check(cell);
  }
  for (const Value& value : a.from(0)) {
    if (rows_of(value) != rows || columns_of(value) != columns) return a.fail(ErrorCode::value);
  }
  CompensatedSum sum;
  for (std::size_t i = 0; i < rows * columns; ++i) {
    double term = 1;
    for (const Value& value : a.from(0)) {
      const Value& cell = cells_of(value)[i];
      term *= cell.is_number() ? cell.number() : 0;
    }
    sum.add(term);
  }
  return finite(sum.value());
}

// The sum of `term` over pairs of numbers; a pair of which one is no number is left out.
template <double (*term)(double, double)>
Value sum_of_pairs(Arguments& a) {
  const auto xs = cells_of(a[0]), ys = cells_of(a[1]);
  a.check(a[0].is_array() ? Value() : a[0]);
  a.check(a[1].is_array() ? Value() : a[1]);
  if (xs.size() != ys.size()) return a.fail(ErrorCode::not_available);
  CompensatedSum sum;
  bool any = false;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    a.check(xs[i]);
    a.check(ys[i]);
    if (!xs[i].is_number() || !ys[i].is_number()) continue;
    any = true;
    sum.add(term(xs[i].number(), ys[i].number()));
  }
  return any ? finite(sum.value()) : Value(ErrorCode::division);
}
double difference_of_squares(double x, double y) {
  return x * x - y * y;
}
double sum_of_squares(double x, double y) {
  return x * x + y * y;
}
double squared_difference(double x, double y) {
  return (x - y) * (x - y);
}

Value seriessum(Arguments& a) {
  const double x = a.number(0), n = a.number(1), m = a.number(2);
  double result = 0, power = n;
  for (const double coefficient : numbers_in(a, a[3])) {
    result += coefficient * std::pow(x, power);
    power += m;
  }
  return finite(result);
}

Value rand(Arguments& a) {
  return std::uniform_real_distribution<double>(0, 1)(a.context().random);
}
Value randbetween(Arguments& a) {
  const double low = std::ceil(a.number(0)), high = std::floor(a.number(1));
  if (low > high) return ErrorCode::number;
  return low + std::floor(std::uniform_real_distribution<double>(0, 1)(a.context().random) * (high - low + 1));
}

constexpr Trait kAggregate = Trait::aggregate;
constexpr Function kFunctions[] = {
    {"ABS", "number", "The number without its sign.", abs},
    {"SIGN", "number", "1, 0 or -1.", sign},
    {"EXP", "number", "e to a power.", exp},
    {"POWER", "number, power", "A number to a power.", power},
    {"SQRT", "number", "The square root.", sqrt},
    {"SQRTPI", "number", "The square root of pi times the number.", sqrtpi, Trait::refuses_booleans},
    {"LN", "number", "The natural logarithm.", ln},
    {"LOG10", "number", "The logarithm to base 10.", log10},
    {"LOG", "number, [base]", "The logarithm to a base, 10 when none is given.", log},
    {"FACT", "number", "The factorial.", fact},
    {"FACTDOUBLE", "number", "n times n-2 times n-4 ...", factdouble, Trait::refuses_booleans},
    {"COMBIN", "number, chosen", "Ways to choose, without repetition.", combin},
    {"COMBINA", "number, chosen", "Ways to choose, with repetition.", combina},
    {"MULTINOMIAL", "*number1, [*number2], ...", "The factorial of a sum over the product of factorials.", multinomial},
    {"GCD", "*number1, [*number2], ...", "The greatest common divisor.", gcd, kAggregate},
    {"LCM", "*number1, [*number2], ...", "The least common multiple.", lcm, kAggregate},
    {"ROMAN", "number, [form]", "A number in Roman letters.", roman},
    {"ARABIC", "text", "The number that Roman letters write.", arabic},
    {"BASE", "number, radix, [min_length]", "A number written in another base.", base},
    {"DECIMAL", "text, radix", "The number that a text writes in another base.", decimal},
    {"SUM", "*number1, [*number2], ...", "The sum.", sum, kAggregate},
    {"SUMSQ", "*number1, [*number2], ...", "The sum of squares.", sumsq, kAggregate},
    {"PRODUCT", "*number1, [*number2], ...", "The product.", product, kAggregate},
    {"SUMPRODUCT", "*array1, [*array2], ...", "The sum of products of cells that lie alike.", sumproduct, kAggregate},
    {"SUMX2MY2", "*xs, *ys", "The sum of x^2 - y^2.", sum_of_pairs<difference_of_squares>, kAggregate},
    {"SUMX2PY2", "*xs, *ys", "The sum of x^2 + y^2.", sum_of_pairs<sum_of_squares>, kAggregate},
    {"SUMXMY2", "*xs, *ys", "The sum of (x - y)^2.", sum_of_pairs<squared_difference>, kAggregate},
    {"SERIESSUM", "x, n, m, *coefficients", "A power series.", seriessum},
    {"RAND", "", "A random number from 0 to below 1.", rand, Trait::is_volatile},
    {"RANDBETWEEN", "bottom, top", "A random whole number in a range.", randbetween, Trait::is_volatile},
};

}  // namespace

std::span<const Function> math_functions() {
  return kFunctions;
}

}  // namespace glmhost::formula
