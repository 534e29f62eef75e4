// Means, spreads, ranks: what is told of one set of numbers.
#include <algorithm>
#include <cmath>
#include <map>

#include "excel-addin/formula/arguments.h"
#include "excel-addin/formula/decimal_rounding.h"
#include "excel-addin/formula/families.h"
#include "excel-addin/formula/statistics.h"

namespace glmhost::formula {
namespace {

double count_of(const std::vector<double>& numbers) {
  return static_cast<double>(numbers.size());
}

template <Pick pick>
Value average(Arguments& a) {
  const auto numbers = numbers_of(a, 0, pick);
  return numbers.empty() ? Value(ErrorCode::division) : finite(mean_of(numbers));
}

Value count(Arguments& a) {
  double result = 0;
  for (const Value& value : a.from(0)) {
    if (!value.is_array()) {
      result += !value.is_error() && !value.is_omitted() && to_number(value) ? 1 : 0;
      continue;
    }
    result += static_cast<double>(
        std::ranges::count_if(value.array().cells(), [](const Value& cell) { return cell.is_number(); }));
  }
  return result;
}
Value counta(Arguments& a) {
  double result = 0;
  for (const Value& value : a.from(0)) {
    for (const Value& cell : cells_of(value)) result += !cell.is_empty() || cell.is_omitted() ? 1 : 0;
  }
  return result;
}

template <Pick pick>
Value min(Arguments& a) {
  const auto numbers = numbers_of(a, 0, pick);
  return numbers.empty() ? 0.0 : *std::ranges::min_element(numbers);
}
template <Pick pick>
Value max(Arguments& a) {
  const auto numbers = numbers_of(a, 0, pick);
  return numbers.empty() ? 0.0 : *std::ranges::max_element(numbers);
}

// `lost` is 1 for a sample, 0 for a whole population.
Value variance_of(const std::vector<double>& numbers, double lost) {
  if (count_of(numbers) <= lost) return ErrorCode::division;
  return finite(squared_deviations(numbers) / (count_of(numbers) - lost));
}
template <int lost, Pick pick>
Value variance(Arguments& a) {
  return variance_of(numbers_of(a, 0, pick), lost);
}
template <int lost, Pick pick>
Value deviation(Arguments& a) {
  const Value result = variance_of(numbers_of(a, 0, pick), lost);
  return result.is_error() ? result : Value(std::sqrt(std::max(result.number(), 0.0)));
}

Value devsq(Arguments& a) {
  const auto numbers = numbers_of(a, 0);
  return numbers.empty() ? Value(ErrorCode::number) : finite(squared_deviations(numbers));
}
Value avedev(Arguments& a) {
  const auto numbers = numbers_of(a, 0);
  if (numbers.empty()) return ErrorCode::number;
  const double mean = mean_of(numbers);
  CompensatedSum sum;
  for (const double x : numbers) sum.add(std::abs(x - mean));
  return finite(sum.value() / count_of(numbers));
}

std::vector<double> sorted(std::vector<double> numbers) {
  std::ranges::sort(numbers);
  return numbers;
}

Value median(Arguments& a) {
  const auto numbers = sorted(numbers_of(a, 0));
  if (numbers.empty()) return ErrorCode::number;
  const std::size_t half = numbers.size() / 2;
  return numbers.size() % 2 == 1 ? numbers[half] : (numbers[half - 1] + numbers[half]) / 2;
}

// Each number that stands most often, in the order in which they are met first.
std::vector<double> modes(const std::vector<double>& numbers) {
  std::map<double, std::size_t> counts;
  std::size_t most = 0;
  for (const double x : numbers) most = std::max(most, ++counts[x]);
  std::vector<double> result;
  if (most < 2) return result;
  for (const double x : numbers) {
    std::size_t& times = counts[x];
    if (times == most) result.push_back(x);
    if (times == most) times = 0;
  }
  return result;
}
Value mode(Arguments& a) {
  const auto found = modes(numbers_of(a, 0));
  return found.empty() ? Value(ErrorCode::not_available) : Value(found[0]);
}
Value mode_mult(Arguments& a) {
  const auto found = modes(numbers_of(a, 0));
  if (found.empty()) return ErrorCode::not_available;
  return Value(Array(found.size(), 1, std::vector<Value>(found.begin(), found.end())));
}

Value percentile_of(const std::vector<double>& numbers, double part, bool exclusive) {
  const double n = count_of(numbers);
  const double position = exclusive ? part * (n + 1) - 1 : part * (n - 1);
  // A position that is whole in 15 digits is meant to be.
  const double whole = std::round(position);
  const double snapped = std::abs(position - whole) < 1e-12 * std::max(1.0, std::abs(whole)) ? whole : position;
  if (numbers.empty() || snapped < 0 || snapped > n - 1) return ErrorCode::number;
  return interpolated(numbers, snapped);
}
template <bool exclusive>
Value percentile(Arguments& a) {
  const double part = a.number(1);
  const auto numbers = sorted(numbers_in(a, a[0]));
  if (a.error()) return *a.error();
  if (part < 0 || part > 1 || (exclusive && (part == 0 || part == 1))) return ErrorCode::number;
  return percentile_of(numbers, part, exclusive);
}
template <bool exclusive>
Value quartile(Arguments& a) {
  const double quarter = a.whole(1);
  const auto numbers = sorted(numbers_in(a, a[0]));
  if (a.error()) return *a.error();
  if (a.number(1) < 0 || quarter > 4 || (exclusive && (quarter == 0 || quarter == 4))) return ErrorCode::number;
  return percentile_of(numbers, quarter / 4, exclusive);
}

// Cut, not rounded, to `digits`; 3 when none are given.
template <bool exclusive>
Value percentrank(Arguments& a) {
  const auto numbers = sorted(numbers_in(a, a[0]));
  const double x = a.number(1), digits = a.whole(2, 3);
  if (a.error()) return *a.error();
  if (numbers.empty() || digits < 1) return ErrorCode::number;
  if (x < numbers.front() || x > numbers.back()) return ErrorCode::not_available;
  const auto above = std::ranges::lower_bound(numbers, x);  // the first that is not below
  double below_count = static_cast<double>(above - numbers.begin());
  if (*above != x) {
    const double lower = *(above - 1);
    below_count += (x - lower) / (*above - lower) - 1;
  }
  if (numbers.size() == 1 && !exclusive) return 1.0;
  const double rank = exclusive ? (below_count + 1) / (count_of(numbers) + 1) : below_count / (count_of(numbers) - 1);
  return finite(round_to_digits(rank, digits, Rounding::down));
}

Value nth(Arguments& a, bool from_the_top) {
  const auto numbers = sorted(numbers_in(a, a[0]));
  const double k = std::ceil(a.number(1));
  if (a.error()) return *a.error();
  if (!(k >= 1 && k <= count_of(numbers))) return ErrorCode::number;
  const auto at = static_cast<std::size_t>(k);
  return numbers[from_the_top ? numbers.size() - at : at - 1];
}
Value large(Arguments& a) {
  return nth(a, true);
}
Value small(Arguments& a) {
  return nth(a, false);
}

// (number, cells, order): the place among the cells, of the largest first unless order is given.
template <bool averages>
Value rank(Arguments& a) {
  const double number = a.number(0);
  if (!a[1].is_array()) a.check(a[1]);
  const auto numbers = numbers_in(a, a[1]);
  const bool ascending = a.number(2) != 0;
  if (a.error()) return *a.error();
  double before = 0, equal = 0;
  for (const double x : numbers) {
    if (x == number)
      equal += 1;
    else if ((x < number) == ascending)
      before += 1;
  }
  if (equal == 0) return ErrorCode::not_available;
  return before + (averages ? (equal + 1) / 2 : 1);
}

Value trimmean(Arguments& a) {
  const auto numbers = sorted(numbers_in(a, a[0]));
  const double part = a.number(1);
  if (a.error()) return *a.error();
  if (numbers.empty() || part < 0 || part >= 1) return ErrorCode::number;
  const auto cut = static_cast<std::size_t>(std::floor(count_of(numbers) * part / 2 + 1e-12));
  return finite(mean_of(std::span(numbers).subspan(cut, numbers.size() - 2 * cut)));
}

Value geomean(Arguments& a) {
  const auto numbers = numbers_of(a, 0);
  CompensatedSum logarithms;
  for (const double x : numbers) {
    if (x <= 0) return a.fail(ErrorCode::number);
    logarithms.add(std::log(x));
  }
  return numbers.empty() ? Value(ErrorCode::number) : finite(std::exp(logarithms.value() / count_of(numbers)));
}
Value harmean(Arguments& a) {
  const auto numbers = numbers_of(a, 0);
  CompensatedSum reciprocals;
  for (const double x : numbers) {
    if (x <= 0) return a.fail(ErrorCode::number);
    reciprocals.add(1 / x);
  }
  return numbers.empty() ? Value(ErrorCode::number) : finite(count_of(numbers) / reciprocals.value());
}

// The sum of ((x - mean) / deviation) to a power.
double standardized_sum(const std::vector<double>& numbers, double deviation, int power) {
  const double mean = mean_of(numbers);
  CompensatedSum sum;
  for (const double x : numbers) sum.add(std::pow((x - mean) / deviation, power));
  return sum.value();
}
template <bool population>
Value skew(Arguments& a) {
  const auto numbers = numbers_of(a, 0);
  const double n = count_of(numbers);
  if (n < 3) return ErrorCode::division;
  const double deviation = std::sqrt(squared_deviations(numbers) / (population ? n : n - 1));
  if (deviation == 0) return ErrorCode::division;
  const double sum = standardized_sum(numbers, deviation, 3);
  return finite(population ? sum / n : sum * n / ((n - 1) * (n - 2)));
}
Value kurt(Arguments& a) {
  const auto numbers = numbers_of(a, 0);
  const double n = count_of(numbers);
  if (n < 4) return ErrorCode::division;
  const double deviation = std::sqrt(squared_deviations(numbers) / (n - 1));
  if (deviation == 0) return ErrorCode::division;
  const double sum = standardized_sum(numbers, deviation, 4);
  return finite(sum * n * (n + 1) / ((n - 1) * (n - 2) * (n - 3)) - 3 * (n - 1) * (n - 1) / ((n - 2) * (n - 3)));
}

Value standardize(Arguments& a) {
  const double x = a.number(0), mean = a.number(1), deviation = a.number(2);
  return deviation > 0 ? finite((x - mean) / deviation) : Value(ErrorCode::number);
}

Value permut(Arguments& a) {
  const double n = a.whole(0), k = a.whole(1);
  if (n < 0 || k < 0 || n < k || n == 0) return ErrorCode::number;
  double result = 1;
  for (double i = n; i > n - k && std::isfinite(result); --i) result *= i;
  return finite(result);
}
Value permutationa(Arguments& a) {
  const double n = a.whole(0), k = a.whole(1);
  if (n < 0 || k < 0 || (n == 0 && k == 0)) return n < 0 || k < 0 ? Value(ErrorCode::number) : Value(1.0);
  return finite(std::pow(n, k));
}

constexpr Trait kAggregate = Trait::aggregate;
constexpr Function kFunctions[] = {
    {"AVERAGE", "*number1, [*number2], ...", "The mean.", average<Pick::numbers>, kAggregate},
    {"AVERAGEA", "*value1, [*value2], ...", "The mean; text counts as 0, TRUE as 1.", average<Pick::all>, kAggregate},
    {"COUNT", "*value1, [*value2], ...", "How many numbers there are.", count, kAggregate},
    {"COUNTA", "*value1, [*value2], ...", "How many values there are.", counta, kAggregate},
    {"MIN", "*number1, [*number2], ...", "The least number.", min<Pick::numbers>, kAggregate},
    {"MINA", "*value1, [*value2], ...", "The least; text counts as 0, TRUE as 1.", min<Pick::all>, kAggregate},
    {"MAX", "*number1, [*number2], ...", "The largest number.", max<Pick::numbers>, kAggregate},
    {"MAXA", "*value1, [*value2], ...", "The largest; text counts as 0, TRUE as 1.", max<Pick::all>, kAggregate},
    {"VAR", "*number1, [*number2], ...", "The variance of a sample.", variance<1, Pick::numbers>, kAggregate},
    {"VAR.S", "*number1, [*number2], ...", "The variance of a sample.", variance<1, Pick::numbers>, kAggregate},
    {"VARA", "*value1, [*value2], ...", "The variance of a sample; text counts as 0.", variance<1, Pick::all>,
     kAggregate},
    {"VARP", "*number1, [*number2], ...", "The variance of a population.", variance<0, Pick::numbers>, kAggregate},
    {"VAR.P", "*number1, [*number2], ...", "The variance of a population.", variance<0, Pick::numbers>, kAggregate},
    {"VARPA", "*value1, [*value2], ...", "The variance of a population; text counts as 0.", variance<0, Pick::all>,
     kAggregate},
    {"STDEV", "*number1, [*number2], ...", "The standard deviation of a sample.", deviation<1, Pick::numbers>,
     kAggregate},
    {"STDEV.S", "*number1, [*number2], ...", "The standard deviation of a sample.", deviation<1, Pick::numbers>,
     kAggregate},
    {"STDEVA", "*value1, [*value2], ...", "The standard deviation of a sample; text counts as 0.",
     deviation<1, Pick::all>, kAggregate},
    {"STDEVP", "*number1, [*number2], ...", "The standard deviation of a population.", deviation<0, Pick::numbers>,
     kAggregate},
    {"STDEV.P", "*number1, [*number2], ...", "The standard deviation of a population.", deviation<0, Pick::numbers>,
     kAggregate},
    {"STDEVPA", "*value1, [*value2], ...", "The standard deviation of a population; text counts as 0.",
     deviation<0, Pick::all>, kAggregate},
    {"DEVSQ", "*number1, [*number2], ...", "The sum of squared distances from the mean.", devsq, kAggregate},
    {"AVEDEV", "*number1, [*number2], ...", "The mean distance from the mean.", avedev, kAggregate},
    {"MEDIAN", "*number1, [*number2], ...", "The number in the middle.", median, kAggregate},
    {"MODE", "*number1, [*number2], ...", "The number that stands most often.", mode, kAggregate},
    {"MODE.SNGL", "*number1, [*number2], ...", "The number that stands most often.", mode, kAggregate},
    {"MODE.MULT", "*number1, [*number2], ...", "The numbers that stand most often.", mode_mult},
    {"PERCENTILE", "*numbers, part", "The number below which a part of all lies.", percentile<false>, kAggregate},
    {"PERCENTILE.INC", "*numbers, part", "The number below which a part of all lies.", percentile<false>, kAggregate},
    {"PERCENTILE.EXC", "*numbers, part", "The same, 0 and 1 excluded.", percentile<true>, kAggregate},
    {"QUARTILE", "*numbers, quarter", "The number below which some quarters of all lie.", quartile<false>, kAggregate},
    {"QUARTILE.INC", "*numbers, quarter", "The number below which some quarters of all lie.", quartile<false>,
     kAggregate},
    {"QUARTILE.EXC", "*numbers, quarter", "The same, 0 and 4 excluded.", quartile<true>, kAggregate},
    {"PERCENTRANK", "*numbers, x, [digits]", "The part of all that lies below x.", percentrank<false>},
    {"PERCENTRANK.INC", "*numbers, x, [digits]", "The part of all that lies below x.", percentrank<false>},
    {"PERCENTRANK.EXC", "*numbers, x, [digits]", "The same, 0 and 1 excluded.", percentrank<true>},
    {"LARGE", "*numbers, k", "The k-th largest.", large, kAggregate},
    {"SMALL", "*numbers, k", "The k-th smallest.", small, kAggregate},
    {"RANK", "number, *cells, [order]", "The place of a number among others.", rank<false>},
    {"RANK.EQ", "number, *cells, [order]", "The place of a number among others.", rank<false>},
    {"RANK.AVG", "number, *cells, [order]", "The place of a number; equal ones share the mean.", rank<true>},
    {"TRIMMEAN", "*numbers, part", "The mean without a part at both ends.", trimmean, kAggregate},
    {"GEOMEAN", "*number1, [*number2], ...", "The geometric mean.", geomean, kAggregate},
    {"HARMEAN", "*number1, [*number2], ...", "The harmonic mean.", harmean, kAggregate},
    {"SKEW", "*number1, [*number2], ...", "The skewness of a sample.", skew<false>, kAggregate},
    {"SKEW.P", "*number1, [*number2], ...", "The skewness of a population.", skew<true>, kAggregate},
    {"KURT", "*number1, [*number2], ...", "The kurtosis of a sample.", kurt, kAggregate},
    {"STANDARDIZE", "x, mean, deviation", "The distance from the mean in deviations.", standardize},
    {"PERMUT", "number, chosen", "Ordered ways to choose, without repetition.", permut},
    {"PERMUTATIONA", "number, chosen", "Ordered ways to choose, with repetition.", permutationa},
};

}  // namespace

std::span<const Function> statistics_functions() {
  return kFunctions;
}

}  // namespace glmhost::formula
