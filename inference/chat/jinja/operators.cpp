// Python's operators.
#include <algorithm>
#include <cmath>
#include <limits>

#include "inference/chat/jinja/runtime.h"

namespace glmhost::jinja {
namespace {

std::string_view sign_of(Operator op) {
  constexpr std::string_view kSigns[] = {
      "+", "-", "*", "/", "//", "%", "** or pow()", "==", "!=", "<", "<=", ">", ">=", "in", "not in"};
  return kSigns[static_cast<std::size_t>(op)];
}

[[noreturn]] void unsupported(Operator op, const Value& a, const Value& b) {
  fail("unsupported operand type(s) for " + std::string(sign_of(op)) + ": '" + std::string(a.type_name()) + "' and '" +
       std::string(b.type_name()) + "'");
}

[[noreturn]] void too_large() {
  throw Fault{Failure::limit, "it computes an integer of more than 127 bits"};
}

Int floor_divide(Int a, Int b) {
  if (b == 0) fail("integer division or modulo by zero");
  if (b == -1) {
    Int negated = 0;
    if (__builtin_sub_overflow(Int{0}, a, &negated)) too_large();
    return negated;
  }
  const Int quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

Int modulo(Int a, Int b) {
  if (b == 0) fail("integer modulo by zero");
  if (b == -1) return 0;
  const Int rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

Int power(Int base, Int exponent) {
  Int result = 1;
  for (; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) != 0 && __builtin_mul_overflow(result, base, &result)) too_large();
    // The last square is not needed.
    if (exponent > 1 && __builtin_mul_overflow(base, base, &base)) too_large();
  }
  return result;
}

Value whole_arithmetic(Operator op, Int a, Int b) {
  Int result = 0;
  bool overflow = false;
  switch (op) {
    case Operator::add:
      overflow = __builtin_add_overflow(a, b, &result);
      break;
    case Operator::subtract:
      overflow = __builtin_sub_overflow(a, b, &result);
      break;
    case Operator::multiply:
      overflow = __builtin_mul_overflow(a, b, &result);
      break;
    case Operator::divide:
      if (b == 0) fail("division by zero");
      return Value(static_cast<double>(a) / static_cast<double>(b));
    case Operator::floor_divide:
      return Value(floor_divide(a, b));
    case Operator::modulo:
      return Value(modulo(a, b));
    default:
      if (b < 0) {
        if (a == 0) fail("0.0 cannot be raised to a negative power");
        return Value(std::pow(static_cast<double>(a), static_cast<double>(b)));
      }
      return Value(power(a, b));
  }
  if (overflow) too_large();
  return Value(result);
}

Value float_arithmetic(Operator op, double a, double b) {
  switch (op) {
    case Operator::add:
      return Value(a + b);
    case Operator::subtract:
      return Value(a - b);
    case Operator::multiply:
      return Value(a * b);
    case Operator::divide:
      if (b == 0) fail("float division by zero");
      return Value(a / b);
    case Operator::floor_divide:
      if (b == 0) fail("float floor division by zero");
      return Value(std::floor(a / b));
    case Operator::modulo: {
      if (b == 0) fail("float modulo");
      const double rest = std::fmod(a, b);
      return Value(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
    }
    default:
      return Value(std::pow(a, b));
  }
}

Value add(Runtime& runtime, const Value& a, const Value& b) {
  if (a.is_text() && b.is_text()) {
    Text sum = a.text();
    sum.append(b.text());
    return runtime.text(std::move(sum));
  }
  if (a.is_text()) {
    fail("can only concatenate str (not \"" + std::string(b.type_name()) + "\") to str");
  }
  if (a.is_list() && b.is_list() && a.is_tuple() == b.is_tuple()) {
    std::vector<Value> items = a.items();
    items.insert(items.end(), b.items().begin(), b.items().end());
    runtime.budget.step(items.size());
    return runtime.list(std::move(items), a.is_tuple());
  }
  unsupported(Operator::add, a, b);
}

Value multiply(Runtime& runtime, const Value& a, const Value& b) {
  const Value& sequence = a.is_whole() ? b : a;
  const Value& times = a.is_whole() ? a : b;
  if (!times.is_whole() || (!sequence.is_text() && !sequence.is_list())) unsupported(Operator::multiply, a, b);
  if (sequence.is_text()) return runtime.text(repeat(runtime, sequence.text(), times.whole()));
  std::vector<Value> items;
  const std::vector<Value>& once = sequence.items();
  runtime.budget.make(times.whole(), once.size() * sizeof(Value));
  for (Int i = 0; i < times.whole() && !once.empty(); ++i) items.insert(items.end(), once.begin(), once.end());
  return runtime.list(std::move(items), sequence.is_tuple());
}

}  // namespace

Value arithmetic(Runtime& runtime, Operator op, const Value& a, const Value& b) {
  if (a.is_undefined()) fail(a.reason());
  if (op == Operator::modulo && a.is_text()) return runtime.text(format_percent(runtime, a.text(), b));
  if (b.is_undefined()) fail(b.reason());
  if (a.is_whole() && b.is_whole()) return whole_arithmetic(op, a.whole(), b.whole());
  if (a.is_number() && b.is_number()) return float_arithmetic(op, a.number(), b.number());
  if (op == Operator::add) return add(runtime, a, b);
  if (op == Operator::multiply) return multiply(runtime, a, b);
  unsupported(op, a, b);
}

bool comparison(Runtime& runtime, Operator op, const Value& a, const Value& b) {
  switch (op) {
    case Operator::eq:
      return equal(a, b, runtime.budget);
    case Operator::ne:
      return !equal(a, b, runtime.budget);
    case Operator::in:
      return contains(runtime, b, a);
    case Operator::not_in:
      return !contains(runtime, b, a);
    default: {
      const int order = compare(a, b, sign_of(op), runtime.budget);
      return op == Operator::lt   ? order < 0
             : op == Operator::le ? order <= 0
             : op == Operator::gt ? order > 0
                                  : order >= 0;
    }
  }
}

bool contains(Runtime& runtime, const Value& container, const Value& item) {
  if (container.is_text()) {
    if (item.is_undefined()) fail(item.reason());
    if (!item.is_text()) fail("'in <string>' requires string as left operand, not " + std::string(item.type_name()));
    runtime.budget.read(container.text().size());
    return container.bytes().find(item.bytes()) != std::string::npos;
  }
  if (container.is_dict()) return container.dict().find(item) != nullptr;
  if (container.is_list()) {
    const std::vector<Value>& items = container.items();
    return std::any_of(items.begin(), items.end(),
                       [&](const Value& each) { return equal(each, item, runtime.budget); });
  }
  if (container.is_undefined()) return false;
  fail("argument of type '" + std::string(container.type_name()) + "' is not iterable");
}

Value negate(Runtime& runtime, const Value& value) {
  if (value.is_float()) return Value(-value.number());
  if (value.is_undefined()) fail(value.reason());
  if (!value.is_whole()) fail("bad operand type for unary -: '" + std::string(value.type_name()) + "'");
  return arithmetic(runtime, Operator::subtract, Value(Int{0}), value);
}

Text repeat(Runtime& runtime, const Text& text, Int count) {
  Text out;
  runtime.budget.make(count, text.size());
  for (Int i = 0; i < count && !text.empty(); ++i) out.append(text);
  return out;
}

}  // namespace glmhost::jinja
