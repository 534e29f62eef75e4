// Present values and rates of return of payments that differ.
#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "excel-addin/formula/arguments.h"
#include "excel-addin/formula/families.h"

namespace glmhost::formula {
namespace {

Value npv(Arguments& a) {
  const double rate = a.number(0);
  const auto payments = numbers_of(a, 1);
  CompensatedSum sum;
  for (std::size_t i = 0; i < payments.size(); ++i)
    sum.add(payments[i] / std::pow(1 + rate, static_cast<double>(i) + 1));
  if (rate == -1) return ErrorCode::division;
  return finite(sum.value());
}

// Where a falls and rises: the signs that a rate of return needs.
bool has_both_signs(const std::vector<double>& payments) {
  return std::ranges::any_of(payments, [](double x) { return x > 0; }) &&
         std::ranges::any_of(payments, [](double x) { return x < 0; });
}

// Newton's method.
std::optional<double> root_from(double guess, const std::function<double(double)>& value,
                                const std::function<double(double)>& slope, int most_steps, double settled) {
  double rate = guess;
  for (int step = 0; step < most_steps; ++step) {
    const double next = rate - value(rate) / slope(rate);
    if (!std::isfinite(next)) return std::nullopt;
    if (std::abs(next - rate) <= settled) return next;
    rate = next;
  }
  return std::nullopt;
}

double present(const std::vector<double>& payments, double rate) {
  CompensatedSum sum;
  double growth = 1;
  for (const double payment : payments) {
    sum.add(payment / growth);
    growth *= 1 + rate;
  }
  return sum.value();
}
double present_slope(const std::vector<double>& payments, double rate) {
  CompensatedSum sum;
  double growth = 1 + rate;
  for (std::size_t i = 1; i < payments.size(); ++i) {
    growth *= 1 + rate;
    sum.add(-static_cast<double>(i) * payments[i] / growth);
  }
  return sum.value();
}

Value irr(Arguments& a) {
  std::vector<double> payments;
  if (!a[0].is_array()) a.check(a[0]);
  for (const Value& cell : cells_of(a[0])) {
    if (cell.is_error() && a[0].is_array()) return a.fail(ErrorCode::value);
    if (cell.is_number()) payments.push_back(cell.number());
  }
  const double guess = a.number_or(1, 0.1);
  if (a.error()) return *a.error();
  if (guess <= -1) return ErrorCode::value;
  if (!has_both_signs(payments)) return ErrorCode::number;
  constexpr int kMostSteps = 60;
  // A guess that leads astray is given up for nearer ones.
  for (const double start : {guess, 0.1, 0.0, -0.5}) {
    const auto rate = root_from(
        start, [&](double r) { return present(payments, r); }, [&](double r) { return present_slope(payments, r); },
        kMostSteps, 1e-13);
    if (rate && *rate > -1) return finite(*rate);
  }
  return ErrorCode::number;
}

Value mirr(Arguments& a) {
  const auto payments = numbers_in(a, a[0]);
  const double finance_rate = a.number(1), reinvest_rate = a.number(2);
  if (a.error()) return *a.error();
  if (std::ranges::none_of(payments, [](double x) { return x < 0; })) return ErrorCode::division;
  if (finance_rate == -1 || reinvest_rate == -1) return ErrorCode::division;
  const double n = static_cast<double>(payments.size());
  double paid = 0, received = 0;
  for (std::size_t i = 0; i < payments.size(); ++i) {
    const double time = static_cast<double>(i);
    if (payments[i] < 0)
      paid += payments[i] / std::pow(1 + finance_rate, time);
    else
      received += payments[i] * std::pow(1 + reinvest_rate, n - 1 - time);
  }
  return finite(std::pow(-received / paid, 1 / (n - 1)) - 1);
}

struct DatedPayments {
  std::vector<double> payments, years;  // years since the first
};

// What becomes of a value that is no number: XIRR refuses it and counts an empty one as 0 where there is a date; XNPV
// leaves both out, so that the sizes differ.
enum class OddValues { refused, left_out };

DatedPayments dated_payments(Arguments& a, std::size_t values_at, std::size_t dates_at, OddValues odd_values) {
  DatedPayments result;
  std::vector<double> days;
  const auto values = cells_of(a[values_at]), dates = cells_of(a[dates_at]);
  for (std::size_t i = 0; i < values.size(); ++i) {
    a.check(values[i]);
    if (values[i].is_number()) result.payments.push_back(values[i].number());
    if (values[i].is_number() || odd_values == OddValues::left_out) continue;
    if (!values[i].is_empty()) a.fail(ErrorCode::value);
    if (i < dates.size() && !dates[i].is_empty()) result.payments.push_back(0);
  }
  for (const Value& date : dates) {
    a.check(date);
    if (date.is_text() || date.is_boolean()) a.fail(ErrorCode::value);
    if (date.is_number()) days.push_back(std::floor(date.number()));
  }
  if (result.payments.size() != days.size() || days.empty()) a.fail(ErrorCode::number);
  for (const double day : days) {
    if (day < days[0] || day < 0) a.fail(ErrorCode::number);
    result.years.push_back((day - days[0]) / 365);
  }
  return result;
}

double dated_present(const DatedPayments& flow, double rate) {
  CompensatedSum sum;
  for (std::size_t i = 0; i < flow.payments.size(); ++i) sum.add(flow.payments[i] / std::pow(1 + rate, flow.years[i]));
  return sum.value();
}
double dated_present_slope(const DatedPayments& flow, double rate) {
  CompensatedSum sum;
  for (std::size_t i = 0; i < flow.payments.size(); ++i) {
    sum.add(-flow.years[i] * flow.payments[i] / std::pow(1 + rate, flow.years[i] + 1));
  }
  return sum.value();
}

Value xnpv(Arguments& a) {
  const double rate = a.number(0);
  const DatedPayments flow = dated_payments(a, 1, 2, OddValues::left_out);
  if (a.error()) return *a.error();
  return rate <= 0 ? Value(ErrorCode::number) : finite(dated_present(flow, rate));
}

Value xirr(Arguments& a) {
  const DatedPayments flow = dated_payments(a, 0, 1, OddValues::refused);
  const double guess = a.number_or(2, 0.1);
  if (a.error()) return *a.error();
  if (!has_both_signs(flow.payments) || guess <= -1) return ErrorCode::number;
  const auto value = [&](double r) { return dated_present(flow, r); };
  const auto slope = [&](double r) { return dated_present_slope(flow, r); };
  constexpr int kMostSteps = 100;
  auto rate = root_from(guess, value, slope, kMostSteps, 1e-12);
  if (rate && *rate > -1) return finite(*rate);
  // Newton went astray: look for a change of sign, and halve.
  double low = -0.999999, low_value = value(low);
  for (double high = -0.95; high < 100; high += high < 1 ? 0.05 : 1) {
    const double high_value = value(high);
    if ((low_value < 0) != (high_value < 0)) {
      double left = low, right = high;
      for (int i = 0; i < 200; ++i) {
        const double middle = (left + right) / 2;
        ((value(middle) < 0) == (low_value < 0) ? left : right) = middle;
      }
      return finite((left + right) / 2);
    }
    low = high;
    low_value = high_value;
  }
  return ErrorCode::number;
}

Value fvschedule(Arguments& a) {
  double value = a.number(0);
  for (const Value& cell : cells_of(a[1])) {
    if (cell.is_empty()) continue;
    if (cell.is_boolean()) return a.fail(ErrorCode::value);
    const auto rate = to_number(cell);
    if (!rate) return a.fail(rate.error());
    value *= 1 + *rate;
  }
  return finite(value);
}

constexpr Trait kStrict = Trait::refuses_booleans;
constexpr Function kFunctions[] = {
    {"NPV", "rate, *value1, [*value2], ...", "The present value of payments at equal intervals.", npv},
    {"IRR", "*values, [guess]", "The rate of return of payments at equal intervals.", irr},
    {"MIRR", "*values, finance_rate, reinvest_rate", "The rate of return with two rates of interest.", mirr},
    {"XNPV", "rate, *values, *dates", "The present value of dated payments.", xnpv, kStrict},
    {"XIRR", "*values, *dates, [guess]", "The rate of return of dated payments.", xirr, kStrict},
    {"FVSCHEDULE", "principal, *rates", "The future value under changing rates.", fvschedule, kStrict},
};

}  // namespace

std::span<const Function> cash_flow_functions() {
  return kFunctions;
}

}  // namespace glmhost::formula
