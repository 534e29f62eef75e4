#include "excel-addin/table/lane.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "excel-addin/formula/coercion.h"
#include "excel-addin/formula/operators.h"

namespace glmhost::table {
namespace {

using formula::Operator;
using formula::Value;

constexpr double kSmallest = std::numeric_limits<double>::min();
constexpr double kLargest = std::numeric_limits<double>::max();

void set(LaneBuffer& buffer, std::size_t i, const Value& value) {
  switch (value.type()) {
    case formula::Type::number:
      buffer.tags[i] = tag_of(value.kind());
      buffer.data[i] = value.number();
      return;
    case formula::Type::boolean:
      buffer.tags[i] = Tag::boolean;
      buffer.data[i] = value.boolean() ? 1 : 0;
      return;
    case formula::Type::error:
      buffer.tags[i] = Tag::error;
      buffer.data[i] = static_cast<double>(value.error());
      return;
    default:
      buffer.tags[i] = Tag::empty;
      buffer.data[i] = 0;
  }
}

// Cell by cell, as the formula library does.
Lane slow_binary(Operator op, const Lane& left, const Lane& right, std::size_t count, LaneBuffer& buffer) {
  for (std::size_t i = 0; i < count; ++i) set(buffer, i, formula::apply(op, left.value(i), right.value(i), 1));
  return {buffer.data.data(), buffer.tags.data(), Tag::error, false, nullptr};
}

Lane uniform_result(Tag tag, LaneBuffer& buffer) {
  return {buffer.data.data(), nullptr, tag, true, nullptr};
}

// Computes all, then looks at what is not finite or too small to be a number of Excel's.
template <class Compute, class Mend>
Lane computed(std::size_t count, Tag tag, LaneBuffer& buffer, const Compute& compute, const Mend& mend) {
  double* const out = buffer.data.data();
  int odd = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double r = compute(i);
    out[i] = r;
    const double size = std::abs(r);
    odd |= static_cast<int>(!(size >= kSmallest)) & static_cast<int>(r != 0);
    odd |= static_cast<int>(!(size <= kLargest));
  }
  if (odd == 0) return uniform_result(tag, buffer);
  for (std::size_t i = 0; i < count; ++i) {
    if (std::abs(out[i]) >= kSmallest && std::abs(out[i]) <= kLargest) {
      buffer.tags[i] = tag;
    } else {
      set(buffer, i, mend(i));
    }
  }
  return {out, buffer.tags.data(), Tag::error, false, nullptr};
}

Lane arithmetic(Operator op, const Lane& left, const Lane& right, std::size_t count, LaneBuffer& buffer) {
  const auto sample = [](const Lane& lane) { return is_number(lane.tag) ? Value(1.0, kind_of(lane.tag)) : Value(1.0); };
  const Value typed = formula::apply(op, sample(left), sample(right), 1);
  const Tag tag = tag_of(typed.kind());
  // A date plus an empty cell is no date: kinds differ from row to row.
  if (tag != Tag::number && (left.tags != nullptr || right.tags != nullptr))
    return slow_binary(op, left, right, count, buffer);
  const double *a = left.data, *b = right.data;
  const auto mend = [&](std::size_t i) { return formula::apply(op, left.value(i), right.value(i), 1); };
  switch (op) {
    case Operator::add:
      return computed(
          count, tag, buffer, [=](std::size_t i) { return a[i] + b[i]; }, mend);
    case Operator::subtract:
      return computed(
          count, tag, buffer, [=](std::size_t i) { return a[i] - b[i]; }, mend);
    case Operator::multiply:
      return computed(
          count, tag, buffer, [=](std::size_t i) { return a[i] * b[i]; }, mend);
    case Operator::divide:
      return computed(
          count, tag, buffer, [=](std::size_t i) { return a[i] / b[i]; }, mend);
    default:
      return computed(
          count, tag, buffer,
          [=](std::size_t i) {
            const bool undefined = a[i] == 0 && b[i] <= 0;
            return undefined ? std::numeric_limits<double>::quiet_NaN() : std::pow(a[i], b[i]);
          },
          mend);
  }
}

// Numbers that agree in 15 digits are equal; where two come near each other, the formula library decides.
template <class Compare>
Lane comparison(Operator op, const Lane& left, const Lane& right, std::size_t count, LaneBuffer& buffer,
                const Compare& compare) {
  const double *a = left.data, *b = right.data;
  double* const out = buffer.data.data();
  int near = 0;
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = compare(a[i], b[i]) ? 1.0 : 0.0;
    const double difference = std::abs(a[i] - b[i]);
    near |= static_cast<int>(difference <= 1.1e-14 * std::max(std::abs(a[i]), std::abs(b[i]))) &
            static_cast<int>(difference != 0);
  }
  for (std::size_t i = 0; near != 0 && i < count; ++i) {
    if (a[i] != b[i]) out[i] = formula::apply(op, Value(a[i]), Value(b[i]), 1).boolean() ? 1 : 0;
  }
  return uniform_result(Tag::boolean, buffer);
}

}  // namespace

bool has_kernel(Operator op) {
  switch (op) {
    case Operator::concatenate:
    case Operator::is_in:
    case Operator::exactly_equal:
    case Operator::not_exactly_equal:
    case Operator::plus:
      return false;
    default:
      return true;
  }
}

Value Lane::value(std::size_t i) const {
  switch (const Tag cell = tag_at(i); cell) {
    case Tag::empty:
      return {};
    case Tag::text:
      return Value(dictionary->text(static_cast<std::size_t>(data[i])));
    case Tag::boolean:
      return Value(data[i] != 0);
    case Tag::error:
      return Value(static_cast<formula::ErrorCode>(static_cast<int>(data[i])));
    default:
      return Value(data[i], kind_of(cell));
  }
}

Lane column_lane(const Column& column, std::size_t begin, std::size_t count, LaneBuffer& buffer) {
  double* const out = buffer.data.data();
  Lane lane{out, nullptr, Tag::empty, true, column.dictionary().get()};
  switch (column.type()) {
    case ColumnType::empty:
      std::fill_n(out, count, 0.0);
      return lane;
    case ColumnType::mixed:
      return {column.payloads() + begin, column.tags() + begin, Tag::error, false, column.dictionary().get()};
    case ColumnType::number:
      lane.tag = tag_of(column.kind());
      lane.data = column.numbers() + begin;
      break;
    case ColumnType::text:
      lane.tag = Tag::text;
      for (std::size_t i = 0; i < count; ++i) out[i] = column.codes()[begin + i];
      break;
    case ColumnType::boolean:
      lane.tag = Tag::boolean;
      for (std::size_t i = 0; i < count; ++i) out[i] = column.booleans()[begin + i];
      break;
  }
  if (column.valid() == nullptr) return lane;
  lane.tags = buffer.tags.data();
  for (std::size_t i = 0; i < count; ++i) {
    const bool there = column.is_valid(begin + i);
    buffer.tags[i] = there ? lane.tag : Tag::empty;
    out[i] = there ? lane.data[i] : 0;
  }
  lane.data = out;
  return lane;
}

Lane mapped_lane(const Column& texts, const Column& entries, std::size_t begin, std::size_t count, LaneBuffer& buffer) {
  const std::size_t of_empty = entries.rows() - 1;
  const auto entry = [&](std::size_t i) { return texts.is_valid(begin + i) ? texts.codes()[begin + i] : of_empty; };
  double* const out = buffer.data.data();
  if (entries.type() == ColumnType::boolean && !entries.has_empties()) {
    for (std::size_t i = 0; i < count; ++i) out[i] = entries.booleans()[entry(i)];
    return uniform_result(Tag::boolean, buffer);
  }
  if (entries.type() == ColumnType::number && !entries.has_empties()) {
    for (std::size_t i = 0; i < count; ++i) out[i] = entries.numbers()[entry(i)];
    return uniform_result(tag_of(entries.kind()), buffer);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = entry(i);
    buffer.tags[i] = entries.tag(at);
    switch (entries.type()) {
      case ColumnType::number:
        out[i] = buffer.tags[i] == Tag::empty ? 0 : entries.numbers()[at];
        break;
      case ColumnType::text:
        out[i] = entries.codes()[at];
        break;
      case ColumnType::boolean:
        out[i] = buffer.tags[i] == Tag::empty ? 0 : entries.booleans()[at];
        break;
      case ColumnType::mixed:
        out[i] = entries.payloads()[at];
        break;
      default:
        out[i] = 0;
    }
  }
  return {out, buffer.tags.data(), Tag::error, false, entries.dictionary().get()};
}

Lane binary_lane(Operator op, const Lane& left, const Lane& right, std::size_t count, LaneBuffer& buffer) {
  const bool both_plain = left.is_plain() && right.is_plain();
  const auto truth = [&](const Lane& lane) {
    return lane.uniform && (lane.tag == Tag::boolean || lane.tag == Tag::empty);
  };
  const bool comparable = (left.is_numeric() && right.is_numeric()) || (truth(left) && truth(right));
  switch (op) {
    case Operator::add:
    case Operator::subtract:
    case Operator::multiply:
    case Operator::divide:
    case Operator::power:
      return both_plain ? arithmetic(op, left, right, count, buffer) : slow_binary(op, left, right, count, buffer);
    case Operator::logical_and:
    case Operator::logical_or: {
      if (!both_plain) return slow_binary(op, left, right, count, buffer);
      const bool both = op == Operator::logical_and;
      for (std::size_t i = 0; i < count; ++i) {
        const bool a = left.data[i] != 0, b = right.data[i] != 0;
        buffer.data[i] = (both ? a & b : a | b) ? 1.0 : 0.0;
      }
      return uniform_result(Tag::boolean, buffer);
    }
    default:
      break;
  }
  if (!comparable) return slow_binary(op, left, right, count, buffer);
  switch (op) {
    case Operator::equal:
      return comparison(op, left, right, count, buffer, [](double a, double b) { return a == b; });
    case Operator::not_equal:
      return comparison(op, left, right, count, buffer, [](double a, double b) { return a != b; });
    case Operator::less:
      return comparison(op, left, right, count, buffer, [](double a, double b) { return a < b; });
    case Operator::less_equal:
      return comparison(op, left, right, count, buffer, [](double a, double b) { return a <= b; });
    case Operator::greater:
      return comparison(op, left, right, count, buffer, [](double a, double b) { return a > b; });
    default:
      return comparison(op, left, right, count, buffer, [](double a, double b) { return a >= b; });
  }
}

Lane unary_lane(Operator op, const Lane& operand, std::size_t count, LaneBuffer& buffer) {
  if (!operand.is_plain()) {
    for (std::size_t i = 0; i < count; ++i) set(buffer, i, formula::apply(op, operand.value(i), 1));
    return {buffer.data.data(), buffer.tags.data(), Tag::error, false, nullptr};
  }
  const double* const a = operand.data;
  double* const out = buffer.data.data();
  switch (op) {
    case Operator::logical_not:
      for (std::size_t i = 0; i < count; ++i) out[i] = a[i] != 0 ? 0.0 : 1.0;
      return uniform_result(Tag::boolean, buffer);
    case Operator::percent:
      for (std::size_t i = 0; i < count; ++i) out[i] = a[i] / 100;
      return uniform_result(Tag::number, buffer);
    default:
      for (std::size_t i = 0; i < count; ++i) out[i] = 0.0 - a[i];
      return uniform_result(Tag::number, buffer);
  }
}

Lane choice_lane(const Lane& condition, const Lane& yes, const Lane& no, const Choice& choice, std::size_t count,
                 LaneBuffer& buffer) {
  double* const out = buffer.data.data();
  const bool same = yes.uniform && no.uniform && yes.tag == no.tag && yes.tags == nullptr && no.tags == nullptr;
  if (condition.is_plain() && same && yes.tag != Tag::text) {
    for (std::size_t i = 0; i < count; ++i) out[i] = condition.data[i] != 0 ? yes.data[i] : no.data[i];
    return {out, nullptr, yes.tag, true, nullptr};
  }
  for (std::size_t i = 0; i < count; ++i) {
    bool holds = condition.data[i] != 0;
    if (!condition.is_plain()) {
      const auto truth = formula::to_boolean(condition.value(i));
      if (!truth) {
        set(buffer, i, truth.error());
        continue;
      }
      holds = *truth;
    }
    const Lane& chosen = holds ? yes : no;
    const auto& codes = holds ? choice.yes_codes : choice.no_codes;
    buffer.tags[i] = chosen.tag_at(i);
    out[i] = buffer.tags[i] == Tag::text ? codes[static_cast<std::size_t>(chosen.data[i])] : chosen.data[i];
  }
  return {out, buffer.tags.data(), Tag::error, false, choice.dictionary.get()};
}

}  // namespace glmhost::table
