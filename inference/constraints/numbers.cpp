#include "inference/constraints/numbers.h"

#include <algorithm>

#include "inference/constraints/regex.h"
#include "inference/constraints/schema_document.h"
#include "inference/error.h"

namespace glmhost::constraints {
namespace {

constexpr std::size_t kMostStates = 100'000;
constexpr std::uint32_t kMostDivisor = 20'000;

// Where a numeral stands.
enum class Part : int { begin, minus, zero, whole, point, fraction, exponent_mark, exponent_sign, exponent };

// Compares the digits of a numeral (without its sign) with a bound's as they come.
class Comparer {
 public:
  explicit Comparer(const NumberSet::Bound& bound) : allowed_(bound.allowed), negative_(bound.value.negative()) {
    const auto parts = bound.value.parts();
    if (!parts) {
      throw Error(ErrorKind::bad_argument,
                  "A numeric bound has more than 400 digits: write it as a number of usual size.");
    }
    whole_ = parts->first;
    fraction_ = parts->second;
  }

  // State: {digits before the point, the same behind it (each as far as they matter), order so far}.
  static constexpr int kEqualSoFar = 1;
  static constexpr int kStart[3] = {0, 0, kEqualSoFar};

  // A numeral's only digit 0 before the point does not come here.
  void whole_digit(int* state, int digit) const {
    const auto length = static_cast<int>(whole_.size());
    if (state[2] == kEqualSoFar && state[0] < length)
      state[2] = order(digit, whole_[static_cast<std::size_t>(state[0])]);
    state[0] = std::min(state[0] + 1, length + 1);
    if (state[0] > length) state[2] = 2;  // more digits: greater
  }

  void point(int* state) const {
    if (state[0] < static_cast<int>(whole_.size())) state[2] = 0;  // fewer digits: less
    if (state[2] != kEqualSoFar) state[1] = 0;
    state[0] = static_cast<int>(whole_.size());
  }

  void fraction_digit(int* state, int digit) const {
    if (state[2] != kEqualSoFar) return;
    const auto length = static_cast<int>(fraction_.size());
    state[2] = order(digit, state[1] < length ? fraction_[static_cast<std::size_t>(state[1])] : '0');
    state[1] = state[2] == kEqualSoFar ? std::min(state[1] + 1, length) : 0;
  }

  bool accepts(const int* state, bool minus) const {
    int magnitude = state[2];  // of the numeral against the bound's: 0 less, 1 equal, 2 greater
    if (magnitude == kEqualSoFar || state[0] < static_cast<int>(whole_.size())) {
      if (state[0] < static_cast<int>(whole_.size())) {
        magnitude = 0;
      } else if (state[1] < static_cast<int>(fraction_.size())) {
        magnitude = 0;  // what is missing is not zero
      }
    }
    const bool bound_is_zero = whole_.empty() && fraction_.empty();
    int compared;  // of the number against the bound
    if (bound_is_zero) {
      compared = magnitude == kEqualSoFar ? 1 : minus ? 0 : 2;
    } else if (minus != negative_) {
      // -0 is no less than 0, but a bound of the other sign decides alone.
      compared = minus ? 0 : 2;
    } else {
      compared = minus ? 2 - magnitude : magnitude;
    }
    return (allowed_ & (compared == 0 ? kLess : compared == 1 ? kEqual : kGreater)) != 0;
  }

 private:
  static int order(int digit, char of_bound) {
    const int other = of_bound - '0';
    return digit < other ? 0 : digit == other ? kEqualSoFar : 2;
  }

  std::uint8_t allowed_;
  bool negative_;
  std::string whole_;
  std::string fraction_;
};

// Whether a numeral is a multiple of n / 10^scale: of its digits, up to scale of them behind the point, the remainder
// modulo n is kept.
class Divider {
 public:
  explicit Divider(const NumberSet::Multiple& multiple) : negated_(multiple.negated) {
    const auto parts = multiple.of.parts();
    std::uint64_t value = 0;
    if (parts) {
      for (const char c : parts->first + parts->second) {
        value = std::min<std::uint64_t>(value * 10 + static_cast<std::uint64_t>(c - '0'), kMostDivisor + 1);
      }
    }
    if (value == 0 || value > kMostDivisor || parts->second.size() > 20) {
      throw UnsupportedKeyword("multipleOf", "`multipleOf` is supported for numbers of up to " +
                                                 std::to_string(kMostDivisor) + " without their decimal point.");
    }
    divisor_ = static_cast<int>(value);
    scale_ = static_cast<int>(parts->second.size());
  }

  static constexpr int kIndivisible = -1;

  // State: {remainder, digits behind the point}.
  void whole_digit(int* state, int digit) const { state[0] = (state[0] * 10 + digit) % divisor_; }
  void fraction_digit(int* state, int digit) const {
    if (state[0] == kIndivisible) return;
    if (state[1] == scale_) {
      if (digit != 0) state[0] = kIndivisible, state[1] = 0;
      return;
    }
    state[0] = (state[0] * 10 + digit) % divisor_;
    ++state[1];
  }
  bool accepts(const int* state) const {
    std::int64_t remainder = state[0];
    if (remainder == kIndivisible) return negated_;
    for (int i = state[1]; i < scale_; ++i) remainder = remainder * 10 % divisor_;
    return (remainder == 0) != negated_;
  }

 private:
  bool negated_;
  int divisor_;
  int scale_;
};

class NumeralAutomaton {
 public:
  explicit NumeralAutomaton(const NumberSet& set) : set_(set) {
    for (const auto& bound : set.bounds) comparers_.emplace_back(bound);
    for (const auto& multiple : set.multiples) dividers_.emplace_back(multiple);
  }

  DfaPointer build() const {
    // {part, minus, a digit behind the point is not 0, comparers' states, dividers' states}
    std::vector<int> start = {static_cast<int>(Part::begin), 0, 0};
    for (std::size_t i = 0; i < comparers_.size(); ++i)
      start.insert(start.end(), Comparer::kStart, Comparer::kStart + 3);
    start.resize(start.size() + 2 * dividers_.size(), 0);
    return explore(
        start,
        [&](const std::vector<int>& state, std::vector<ImplicitEdge<std::vector<int>>>& edges) {
          return expand(state, edges);
        },
        kMostStates, "The numeric conditions (minimum, maximum, multipleOf) together need too large an automaton.");
  }

 private:
  using State = std::vector<int>;
  using Edges = std::vector<ImplicitEdge<State>>;

  static void go(const State& state, Part part, char low, char high, Edges& edges) {
    State next = state;
    next[0] = static_cast<int>(part);
    edges.push_back({static_cast<std::uint8_t>(low), static_cast<std::uint8_t>(high), std::move(next)});
  }

  void digits(const State& state, Part part, int first, Edges& edges) const {
    for (int digit = first; digit <= 9; ++digit) {
      State next = state;
      next[0] = static_cast<int>(part);
      int* place = next.data() + 3;
      for (const Comparer& comparer : comparers_) {
        part == Part::fraction ? comparer.fraction_digit(place, digit) : comparer.whole_digit(place, digit);
        place += 3;
      }
      for (const Divider& divider : dividers_) {
        part == Part::fraction ? divider.fraction_digit(place, digit) : divider.whole_digit(place, digit);
        place += 2;
      }
      if (part == Part::fraction && digit != 0 && set_.integer) next[2] = 1;
      const auto byte = static_cast<std::uint8_t>('0' + digit);
      if (!edges.empty() && edges.back().high + 1 == byte && edges.back().target == next) {
        edges.back().high = byte;
      } else {
        edges.push_back({byte, byte, std::move(next)});
      }
    }
  }

  void point(const State& state, Edges& edges) const {
    State next = state;
    next[0] = static_cast<int>(Part::point);
    for (std::size_t i = 0; i < comparers_.size(); ++i) comparers_[i].point(next.data() + 3 + 3 * i);
    edges.push_back({'.', '.', std::move(next)});
  }

  std::uint32_t expand(const State& state, Edges& edges) const {
    const bool exponents = set_.unconstrained();
    switch (static_cast<Part>(state[0])) {
      case Part::begin: {
        State next = state;
        next[0] = static_cast<int>(Part::minus);
        next[1] = 1;
        edges.push_back({'-', '-', std::move(next)});
        first_digits(state, edges);
        return kNoLabel;
      }
      case Part::minus:
        first_digits(state, edges);
        return kNoLabel;
      case Part::zero:
      case Part::whole:
        point(state, edges);
        if (static_cast<Part>(state[0]) == Part::whole) digits(state, Part::whole, 0, edges);
        if (exponents) exponent_marks(state, edges);
        return accepts(state);
      case Part::point:
        if (set_.integer == true) {
          go(state, Part::fraction, '0', '0', edges);  // 1.0 and no longer
        } else {
          digits(state, Part::fraction, 0, edges);
        }
        return kNoLabel;
      case Part::fraction:
        if (set_.integer == true) return accepts(state);
        digits(state, Part::fraction, 0, edges);
        if (exponents) exponent_marks(state, edges);
        return accepts(state);
      case Part::exponent_mark:
        go(state, Part::exponent_sign, '+', '+', edges);
        go(state, Part::exponent_sign, '-', '-', edges);
        go(state, Part::exponent, '0', '9', edges);
        return kNoLabel;
      case Part::exponent_sign:
        go(state, Part::exponent, '0', '9', edges);
        return kNoLabel;
      case Part::exponent:
        go(state, Part::exponent, '0', '9', edges);
        return 0;
    }
    return kNoLabel;
  }

  static void exponent_marks(const State& state, Edges& edges) {
    go(state, Part::exponent_mark, 'E', 'E', edges);
    go(state, Part::exponent_mark, 'e', 'e', edges);
  }

  void first_digits(const State& state, Edges& edges) const {
    go(state, Part::zero, '0', '0', edges);
    digits(state, Part::whole, 1, edges);
  }

  std::uint32_t accepts(const State& state) const {
    if (set_.integer == false && state[2] == 0) return kNoLabel;
    const int* place = state.data() + 3;
    for (const Comparer& comparer : comparers_) {
      if (!comparer.accepts(place, state[1] != 0)) return kNoLabel;
      place += 3;
    }
    for (const Divider& divider : dividers_) {
      if (!divider.accepts(place)) return kNoLabel;
      place += 2;
    }
    return 0;
  }

  const NumberSet& set_;
  std::vector<Comparer> comparers_;
  std::vector<Divider> dividers_;
};

}  // namespace

void NumberSet::add(const NumberSet& other) {
  if (other.integer) {
    if (integer && *integer != *other.integer) bounds.push_back({Decimal(), 0});  // both: no number at all
    integer = other.integer;
  }
  for (const Bound& bound : other.bounds) {
    if (std::ranges::find(bounds, bound) == bounds.end()) bounds.push_back(bound);
  }
  for (const Multiple& multiple : other.multiples) {
    if (std::ranges::find(multiples, multiple) == multiples.end()) multiples.push_back(multiple);
  }
}

DfaPointer number_dfa(const NumberSet& set) {
  return NumeralAutomaton(set).build();
}

DfaPointer usual_numerals(bool integers) {
  static const DfaPointer whole = regex_dfa("0|-?[1-9][0-9]{0,14}", Match::whole);
  static const DfaPointer any =
      regex_dfa(R"(-?(0|[1-9][0-9]{0,14})(\.[0-9]{1,15})?([eE][+-]?[0-9]{1,2})?)", Match::whole);
  return integers ? whole : any;
}

DfaPointer number_values_dfa(const std::vector<Decimal>& values) {
  std::vector<std::string> texts;
  for (const Decimal& value : values) {
    const auto parts = value.parts();
    if (!parts) {
      throw Error(ErrorKind::bad_argument, "A number in `enum` or `const` has more than 400 digits.");
    }
    const std::string numeral = (value.negative() ? "-" : "") + (parts->first.empty() ? "0" : parts->first) +
                                (parts->second.empty() ? "" : "." + parts->second);
    texts.push_back(numeral);
    if (parts->second.empty()) texts.push_back(numeral + ".0");
    // As programs write a number of this size.
    if (const std::string exponential = value.exponential(); parts->first.size() > 15) texts.push_back(exponential);
  }
  return literals(std::move(texts));
}

}  // namespace glmhost::constraints
