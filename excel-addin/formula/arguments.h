// What the code of a function sees of its call.
//
// Reading an argument that cannot be read as wanted notes its error and gives a harmless value (0, "", FALSE). The
// first error noted is the function's result, whatever the code returns afterwards: so code reads all its arguments
// first, in order, and needs no check behind each.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "excel-addin/formula/coercion.h"
#include "excel-addin/formula/context.h"
#include "excel-addin/formula/function.h"
#include "excel-addin/formula/syntax_tree.h"
#include "excel-addin/formula/value.h"

namespace glmhost::formula {

class Arguments {
 public:
  Arguments(const Function& function, std::span<const Value> values, Context& context)
      : function_(function), values_(values), context_(context) {}

  std::size_t size() const { return values_.size(); }
  const Function& function() const { return function_; }
  Context& context() { return context_; }

  bool has(std::size_t i) const { return i < values_.size(); }  // perhaps left out
  bool given(std::size_t i) const { return i < values_.size() && !values_[i].is_omitted(); }
  const Value& operator[](std::size_t i) const { return values_[i]; }
  std::span<const Value> from(std::size_t i) const { return values_.subspan(std::min(i, values_.size())); }

  // Each gives the fallback when the call ends before the argument; one left out counts as 0, "" or FALSE.
  double number(std::size_t i, double fallback = 0);
  double whole(std::size_t i, double fallback = 0);  // the number cut to its whole part
  std::string text(std::size_t i, std::string fallback = {});
  bool boolean(std::size_t i, bool fallback = false);

  // As above, but the fallback stands for an argument left out between commas too.
  double number_or(std::size_t i, double fallback) { return given(i) ? number(i) : fallback; }
  double whole_or(std::size_t i, double fallback) { return given(i) ? whole(i) : fallback; }

  // A serial day; #NUM! outside of the calendar.
  double serial(std::size_t i);

  Value fail(ErrorCode error);
  // Notes the value's error when it is one.
  void check(const Value& value) {
    if (value.scalar().is_error()) fail(value.scalar().error());
  }
  const std::optional<ErrorCode>& error() const { return error_; }

 private:
  const Function& function_;
  std::span<const Value> values_;
  Context& context_;
  std::optional<ErrorCode> error_;
};

class Evaluator;

class LazyArguments {
 public:
  LazyArguments(Evaluator& evaluator, std::span<const NodeId> nodes) : evaluator_(evaluator), nodes_(nodes) {}

  std::size_t size() const { return nodes_.size(); }
  bool given(std::size_t i) const;
  Value evaluate(std::size_t i) const;
  Context& context() const;

  // For LET: the name that argument i is, and its value while the later arguments are evaluated.
  const std::string& name(std::size_t i) const;
  void bind(const std::string& name, Value value) const;
  void unbind(std::size_t count) const;

 private:
  Evaluator& evaluator_;
  std::span<const NodeId> nodes_;
};

// --- What many functions do with many values.

// How numbers are picked from values. Cells of ranges and arrays that are no numbers are left out or, as AVERAGEA and
// its like do, count as 0 (text) and 0 or 1 (booleans). A direct argument is converted; one that is no number is
// #VALUE!.
enum class Pick { numbers, all };

// The numbers of the arguments from `first` on. Notes the first error among them.
std::vector<double> numbers_of(Arguments& arguments, std::size_t first, Pick pick = Pick::numbers);
std::vector<double> numbers_in(Arguments& arguments, const Value& value, Pick pick = Pick::numbers);

// Sums with an error term carried along (Neumaier), so that a million addends lose nothing.
class CompensatedSum {
 public:
  void add(double x);
  double value() const { return sum_ + lost_; }

 private:
  double sum_ = 0, lost_ = 0;
};
double sum_of(std::span<const double> numbers);

// #NUM! for what is no number or infinite.
Value finite(double number, NumberKind kind = NumberKind::plain);

}  // namespace glmhost::formula
