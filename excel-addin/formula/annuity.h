// Payments at equal intervals: pv (1+r)^n + pmt (1 + r due) ((1+r)^n - 1) / r + fv = 0. Money paid is negative.
#pragma once

namespace glmhost::formula {

struct Annuity {
  double rate, periods, payment, present, future;
  bool due;  // paid at the beginning of each period
};

double future_value(const Annuity& annuity);
double present_value(const Annuity& annuity);
double payment(const Annuity& annuity);

// The interest in payment number `period`, from 1; `payment` is set.
double interest_part(const Annuity& annuity, double period);

// What is left of the payment.
double repayment_part(const Annuity& annuity, double period);

}  // namespace glmhost::formula
