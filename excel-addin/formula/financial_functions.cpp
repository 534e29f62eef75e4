// Loans, savings and depreciation. Cash flows stand in cash_flow_functions.cpp.
#include <algorithm>
#include <cmath>

#include "excel-addin/formula/annuity.h"
#include "excel-addin/formula/arguments.h"
#include "excel-addin/formula/decimal_rounding.h"
#include "excel-addin/formula/families.h"

namespace glmhost::formula {
namespace {

// Excel takes any number but 0 for "at the beginning".
bool due(Arguments& a, std::size_t i) {
  return a.number(i) != 0;
}

Value fv(Arguments& a) {
  Annuity loan{};
  loan.rate = a.number(0);
  loan.periods = a.number(1);
  loan.payment = a.number(2);
  loan.present = a.number(3);
  loan.due = due(a, 4);
  if (loan.rate == -1 && loan.periods < 0) return ErrorCode::division;
  return finite(future_value(loan));
}
Value pv(Arguments& a) {
  Annuity loan{};
  loan.rate = a.number(0);
  loan.periods = a.number(1);
  loan.payment = a.number(2);
  loan.future = a.number(3);
  loan.due = due(a, 4);
  return finite(present_value(loan));
}
Value pmt(Arguments& a) {
  Annuity loan{};
  loan.rate = a.number(0);
  loan.periods = a.number(1);
  loan.present = a.number(2);
  loan.future = a.number(3);
  loan.due = due(a, 4);
  if (loan.periods == 0 || loan.rate <= -1) return ErrorCode::number;
  return finite(payment(loan));
}

Value nper(Arguments& a) {
  const double rate = a.number(0), pay = a.number(1), present = a.number(2), future = a.number(3);
  const bool at_beginning = due(a, 4);
  if (rate == 0) return pay == 0 ? Value(ErrorCode::number) : finite(-(present + future) / pay);
  if (rate <= -1) return ErrorCode::number;
  const double each = pay * (at_beginning ? 1 + rate : 1) / rate;
  const double ratio = (each - future) / (each + present);
  return ratio > 0 ? finite(std::log(ratio) / std::log1p(rate)) : Value(ErrorCode::number);
}

// Newton's method on the future value, from the guess: where it does not settle in 50 steps Excel gives up too.
Value rate(Arguments& a) {
  Annuity loan{};
  loan.periods = a.number(0);
  loan.payment = a.number(1);
  loan.present = a.number(2);
  loan.future = a.number(3);
  loan.due = due(a, 4);
  double guess = a.number_or(5, 0.1);
  if (a.error()) return *a.error();
  if (loan.periods <= 0 || guess <= -1) return ErrorCode::number;
  const auto left_over = [&](double r) {
    loan.rate = r;
    return future_value(loan) - loan.future;
  };
  constexpr int kMostSteps = 50;
  constexpr double kSettled = 1e-7;
  for (int step = 0; step < kMostSteps; ++step) {
    const double value = left_over(guess);
    const double width = 1e-6 * std::max(std::abs(guess), 1e-2);
    const double slope = (left_over(guess + width) - left_over(guess - width)) / (2 * width);
    const double next = guess - value / slope;
    if (!std::isfinite(next) || next <= -1) return ErrorCode::number;
    if (std::abs(next - guess) < kSettled) {
      // One more step brings the digits that a table shows.
      const double last_slope = (left_over(next + width) - left_over(next - width)) / (2 * width);
      const double refined = next - left_over(next) / last_slope;
      return finite(std::isfinite(refined) && refined > -1 ? refined : next);
    }
    guess = next;
  }
  return ErrorCode::number;
}

Annuity loan_of(Arguments& a) {
  Annuity loan{};
  loan.rate = a.number(0);
  loan.periods = a.number(2);
  loan.present = a.number(3);
  loan.future = a.number(4);
  loan.due = due(a, 5);
  loan.payment = payment(loan);
  return loan;
}
Value ipmt(Arguments& a) {
  a.number(0);
  const double period = a.number(1);
  const Annuity loan = loan_of(a);
  if (period < 1 || period >= loan.periods + 1) return ErrorCode::number;
  return finite(interest_part(loan, period));
}
Value ppmt(Arguments& a) {
  a.number(0);
  const double period = a.number(1);
  const Annuity loan = loan_of(a);
  if (period < 1 || period >= loan.periods + 1) return ErrorCode::number;
  return finite(repayment_part(loan, period));
}

// (rate, periods, present, first, last, type)
Value cumulative(Arguments& a, bool of_interest) {
  Annuity loan{};
  loan.rate = a.number(0);
  loan.periods = a.whole(1);
  loan.present = a.number(2);
  const double first = a.whole(3), last = a.whole(4), type = a.whole(5);
  constexpr double kMost = 1e6;
  if (loan.rate <= 0 || loan.periods < 1 || loan.present <= 0 || first < 1 || last < first || last > loan.periods ||
      last > kMost || (type != 0 && type != 1)) {
    return ErrorCode::number;
  }
  loan.due = type == 1;
  loan.payment = payment(loan);
  CompensatedSum sum;
  for (double period = first; period <= last; ++period) {
    const double interest = interest_part(loan, period);
    sum.add(of_interest ? interest : repayment_part(loan, period));
  }
  return finite(sum.value());
}
Value cumipmt(Arguments& a) {
  return cumulative(a, true);
}
Value cumprinc(Arguments& a) {
  return cumulative(a, false);
}
Value ispmt(Arguments& a) {
  const double rate_each = a.number(0), period = a.number(1), periods = a.number(2), present = a.number(3);
  return periods == 0 ? Value(ErrorCode::division) : finite(-present * rate_each * (1 - period / periods));
}

Value effect(Arguments& a) {
  const double nominal_rate = a.number(0), periods = a.whole(1);
  if (nominal_rate <= 0 || periods < 1) return ErrorCode::number;
  return finite(std::expm1(periods * std::log1p(nominal_rate / periods)));
}
Value nominal(Arguments& a) {
  const double effective_rate = a.number(0), periods = a.whole(1);
  if (effective_rate <= 0 || periods < 1) return ErrorCode::number;
  return finite(periods * std::expm1(std::log1p(effective_rate) / periods));
}
Value pduration(Arguments& a) {
  const double rate_each = a.number(0), present = a.number(1), future = a.number(2);
  if (rate_each <= 0 || present <= 0 || future <= 0) return ErrorCode::number;
  return finite(std::log(future / present) / std::log1p(rate_each));
}
Value rri(Arguments& a) {
  const double periods = a.number(0), present = a.number(1), future = a.number(2);
  if (periods <= 0 || present == 0) return ErrorCode::number;
  return finite(std::pow(future / present, 1 / periods) - 1);
}

Value sln(Arguments& a) {
  const double cost = a.number(0), salvage = a.number(1), life = a.number(2);
  return life == 0 ? Value(ErrorCode::division) : finite((cost - salvage) / life);
}
Value syd(Arguments& a) {
  const double cost = a.number(0), salvage = a.number(1), life = a.number(2), period = a.number(3);
  if (life <= 0 || period < 1 || period > life || salvage < 0) return ErrorCode::number;
  return finite((cost - salvage) * (life - period + 1) * 2 / (life * (life + 1)));
}

// What is written off in a period by a falling balance; never below the salvage value.
Value ddb(Arguments& a) {
  const double cost = a.number(0), salvage = a.number(1), life = a.number(2), period = a.number(3);
  const double factor = a.number_or(4, 2);
  if (cost < 0 || salvage < 0 || life <= 0 || period <= 0 || period > life || factor <= 0) return ErrorCode::number;
  const double part = std::min(factor / life, 1.0);
  const double before = part == 1 ? (period == 1 ? cost : 0) : cost * std::pow(1 - part, period - 1);
  const double after = part == 1 ? 0 : cost * std::pow(1 - part, period);
  return finite(std::max(before - std::max(after, salvage), 0.0));
}

// Fixed declining balance; the first year may be shorter.
Value db(Arguments& a) {
  const double cost = a.number(0), salvage = a.number(1), life = a.number(2), period = a.number(3);
  const double months = a.has(4) ? std::floor(a.number(4)) : 12;
  if (cost < 0 || salvage < 0 || life <= 0 || period < 1 || months < 1 || months > 12 ||
      period > life + (months < 12 ? 1 : 0)) {
    return ErrorCode::number;
  }
  if (cost == 0) return 0.0;
  const double part = round_to_digits(1 - std::pow(salvage / cost, 1 / life), 3, Rounding::half_away);
  double total = cost * part * months / 12;
  if (std::floor(period) == 1) return finite(total);
  double written_off = 0;
  const double last = std::floor(period);
  for (double year = 2; year <= last && year < 1e6; ++year) {
    written_off = (cost - total) * part;
    if (year == std::floor(life) + 1) written_off *= (12 - months) / 12;
    total += written_off;
  }
  return finite(written_off);
}

// The fraction behind the point is in 32nds, 16ths, ...: 1.02 is 1 2/16 for 16.
Value dollarde(Arguments& a) {
  const double price = a.number(0), parts = a.whole(1);
  if (parts < 0) return ErrorCode::number;
  if (parts < 1) return ErrorCode::division;
  const double digits = std::pow(10, std::ceil(std::log10(parts)));
  const double whole = std::trunc(price);
  return finite(whole + (price - whole) * digits / parts);
}
Value dollarfr(Arguments& a) {
  const double price = a.number(0), parts = a.whole(1);
  if (parts < 0) return ErrorCode::number;
  if (parts < 1) return ErrorCode::division;
  const double digits = std::pow(10, std::ceil(std::log10(parts)));
  const double whole = std::trunc(price);
  return finite(whole + (price - whole) * parts / digits);
}

constexpr Trait kStrict = Trait::refuses_booleans;
constexpr Function kFunctions[] = {
    {"PMT", "rate, periods, present_value, [future_value], [type]", "The payment of a loan.", pmt},
    {"PV", "rate, periods, payment, [future_value], [type]", "The present value.", pv},
    {"FV", "rate, periods, payment, [present_value], [type]", "The future value.", fv},
    {"NPER", "rate, payment, present_value, [future_value], [type]", "The number of payments.", nper},
    {"RATE", "periods, payment, present_value, [future_value], [type], [guess]", "The interest rate.", rate},
    {"IPMT", "rate, period, periods, present_value, [future_value], [type]", "The interest in a payment.", ipmt},
    {"PPMT", "rate, period, periods, present_value, [future_value], [type]", "The repayment in a payment.", ppmt},
    {"CUMIPMT", "rate, periods, present_value, first, last, type", "The interest in a range of payments.", cumipmt,
     kStrict},
    {"CUMPRINC", "rate, periods, present_value, first, last, type", "The repayment in a range of payments.", cumprinc,
     kStrict},
    {"ISPMT", "rate, period, periods, present_value", "The interest of a loan with equal repayments.", ispmt},
    {"EFFECT", "nominal_rate, periods", "The effective yearly rate.", effect, kStrict},
    {"NOMINAL", "effective_rate, periods", "The nominal yearly rate.", nominal, kStrict},
    {"PDURATION", "rate, present_value, future_value", "The periods to reach a value.", pduration},
    {"RRI", "periods, present_value, future_value", "The rate that reaches a value.", rri},
    {"SLN", "cost, salvage, life", "Straight-line depreciation.", sln},
    {"SYD", "cost, salvage, life, period", "Sum-of-years depreciation.", syd},
    {"DB", "cost, salvage, life, period, [month]", "Fixed declining balance depreciation.", db},
    {"DDB", "cost, salvage, life, period, [factor]", "Double declining balance depreciation.", ddb},
    {"DOLLARDE", "fractional_price, parts", "A price in fractions as a decimal.", dollarde, kStrict},
    {"DOLLARFR", "decimal_price, parts", "A decimal price in fractions.", dollarfr, kStrict},
};

}  // namespace

std::span<const Function> financial_functions() {
  return kFunctions;
}

}  // namespace glmhost::formula
