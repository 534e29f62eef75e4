// A number through a section of digits: 0 always prints, # prints what is there, ? prints a blank for what is not.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "excel-addin/formula/decimal_rounding.h"
#include "excel-addin/formula/number_format.h"
#include "excel-addin/formula/number_text.h"

namespace glmhost::formula {
namespace {

using Kind = FormatToken::Kind;

// The digits of a number that has been rounded to `decimals`: before and behind the point. "" for no whole part.
struct Digits {
  std::string whole, decimals;
  bool is_zero() const {
    return whole.find_first_not_of('0') == std::string::npos && decimals.find_first_not_of('0') == std::string::npos;
  }
};

Digits digits_of(double number, int decimals) {
  Digits digits;
  number = round_to_digits(number, decimals, Rounding::half_away);
  if (number != 0) {
    const Decimal decimal = to_decimal(number, 15);
    std::string all = decimal.digits;
    int point = decimal.exponent + 1;
    if (point <= 0) {
      all.insert(0, static_cast<std::size_t>(-point), '0');
      point = 0;
    }
    if (all.size() < static_cast<std::size_t>(point)) all.resize(static_cast<std::size_t>(point), '0');
    digits.whole = all.substr(0, static_cast<std::size_t>(point));
    digits.decimals = all.substr(static_cast<std::size_t>(point));
  }
  digits.decimals.resize(static_cast<std::size_t>(decimals), '0');
  return digits;
}

struct Layout {
  std::size_t begin, point, end;  // tokens: whole part, decimals
  int whole_places = 0, decimal_places = 0;
};

Layout layout_of(const std::vector<FormatToken>& tokens, std::size_t begin, std::size_t end) {
  Layout layout{begin, end, end};
  for (std::size_t i = begin; i < end; ++i) {
    if (tokens[i].kind == Kind::point && layout.point == end) layout.point = i;
    if (tokens[i].kind == Kind::digit) (layout.point == end ? layout.whole_places : layout.decimal_places) += 1;
  }
  return layout;
}

std::string missing_digit(char sign) {
  return sign == '0' ? "0" : sign == '?' ? " " : "";
}

std::string whole_part(const std::vector<FormatToken>& tokens, const Layout& layout, const std::string& digits,
                       bool groups) {
  std::string text;
  int place = std::max(layout.whole_places, 1);  // counted from the right
  const auto separated = [&](int from_right) { return groups && from_right > 1 && (from_right - 1) % 3 == 0; };
  bool first = true;
  const auto emit = [&](int from_right, char sign) {
    const auto at = static_cast<std::ptrdiff_t>(digits.size()) - from_right;
    const bool there = at >= 0;
    text += there ? std::string(1, digits[static_cast<std::size_t>(at)]) : missing_digit(sign);
    if ((there || sign == '0') && separated(from_right)) text += ',';
  };
  for (std::size_t i = layout.begin; i < layout.point; ++i) {
    const FormatToken& token = tokens[i];
    if (token.kind == Kind::percent) {
      text += '%';
    } else if (token.kind != Kind::digit) {
      text += token.text;
    } else {
      // The first place takes all digits that are left of it.
      if (first) {
        for (int from_right = static_cast<int>(digits.size()); from_right > place; --from_right) emit(from_right, '0');
      }
      first = false;
      emit(place--, token.sign);
    }
  }
  // ".00": a whole part without a place for it.
  if (first && layout.point != layout.end && layout.whole_places == 0) text += digits;
  return text;
}

std::string decimal_part(const std::vector<FormatToken>& tokens, const Layout& layout, const std::string& digits) {
  std::string text;
  if (layout.point == layout.end) return text;
  text += '.';
  const std::size_t significant =
      digits.find_last_not_of('0') == std::string::npos ? 0 : digits.find_last_not_of('0') + 1;
  std::size_t place = 0;
  for (std::size_t i = layout.point + 1; i < layout.end; ++i) {
    const FormatToken& token = tokens[i];
    if (token.kind == Kind::percent) {
      text += '%';
    } else if (token.kind != Kind::digit) {
      text += token.text;
    } else {
      text += place < significant ? std::string(1, digits[place]) : missing_digit(token.sign);
      ++place;
    }
  }
  return text;
}

NumberText plain(const FormatSection& section, double magnitude) {
  const Layout layout = layout_of(section.tokens, 0, section.tokens.size());
  const Digits digits = digits_of(magnitude, layout.decimal_places);
  return {whole_part(section.tokens, layout, digits.whole, section.groups) +
              decimal_part(section.tokens, layout, digits.decimals),
          digits.is_zero()};
}

// 0.00E+00; with several places before the point the exponent is a multiple of their number.
NumberText scientific(const FormatSection& section, double magnitude, std::size_t exponent_at) {
  const auto& tokens = section.tokens;
  const Layout layout = layout_of(tokens, 0, exponent_at);
  const int step = std::max(layout.whole_places, 1);
  int exponent = 0;
  Digits digits = digits_of(0, layout.decimal_places);
  if (magnitude != 0) {
    exponent = to_decimal(magnitude, 15).exponent;
    const auto floor_to_step = [&](int value) {
      return step == 1 ? value : static_cast<int>(std::floor(static_cast<double>(value) / step)) * step;
    };
    exponent = floor_to_step(exponent);
    const auto mantissa = [&] {
      return exponent < -300 ? magnitude * 1e10 / std::pow(10.0, exponent + 10) : magnitude / std::pow(10.0, exponent);
    };
    digits = digits_of(mantissa(), layout.decimal_places);
    if (static_cast<int>(digits.whole.size()) > step) {  // 9.99 became 10.0
      exponent += step;
      digits = digits_of(mantissa(), layout.decimal_places);
    }
  }
  std::string text = whole_part(tokens, layout, digits.whole, false) + decimal_part(tokens, layout, digits.decimals);
  text += tokens[exponent_at].text;
  if (exponent < 0)
    text += '-';
  else if (tokens[exponent_at].sign == '+')
    text += '+';
  const std::string power = exponent == 0 ? "" : std::to_string(std::abs(exponent));
  const Layout power_layout = layout_of(tokens, exponent_at + 1, tokens.size());
  text += whole_part(tokens, power_layout, power.empty() ? "0" : power, false);
  return {text, digits.is_zero()};
}

struct Fraction {
  std::int64_t above, below;
};

// The nearest fraction with a denominator of at most `most`, by the Stern-Brocot tree's mediants (continued fractions).
Fraction nearest_fraction(double x, std::int64_t most) {
  std::int64_t above_before = 0, above = 1, below_before = 1, below = 0;
  double rest = x;
  for (int i = 0; i < 40; ++i) {
    const double term = std::floor(rest);
    if (term > 1e9) break;
    const auto a = static_cast<std::int64_t>(term);
    const std::int64_t next_below = a * below + below_before;
    if (next_below > most) {
      // A part of the step may still be nearer.
      const std::int64_t part = below == 0 ? 0 : (most - below_before) / below;
      const Fraction partial{part * above + above_before, part * below + below_before};
      const auto distance = [&](const Fraction& f) {
        return f.below == 0 ? 1e300 : std::abs(x - static_cast<double>(f.above) / static_cast<double>(f.below));
      };
      const Fraction full{above, below};
      return distance(partial) < distance(full) ? partial : full;
    }
    const std::int64_t next_above = a * above + above_before;
    above_before = above;
    below_before = below;
    above = next_above;
    below = next_below;
    if (rest - term < 1e-12) break;
    rest = 1 / (rest - term);
  }
  return {above, std::max<std::int64_t>(below, 1)};
}

// "# ?/?", "??/100"
NumberText fraction(const FormatSection& section, double magnitude) {
  const auto& tokens = section.tokens;
  const auto slash =
      static_cast<std::size_t>(std::ranges::find(tokens, Kind::slash, &FormatToken::kind) - tokens.begin());
  // The numerator's places stand right before the slash, the whole part's before a literal.
  std::size_t numerator = slash;
  while (numerator > 0 && tokens[numerator - 1].kind == Kind::digit) --numerator;
  const Layout whole_layout = layout_of(tokens, 0, numerator);
  std::size_t denominator_end = slash + 1;
  int places = 0;
  while (denominator_end < tokens.size() && tokens[denominator_end].kind == Kind::digit) {
    ++denominator_end;
    ++places;
  }
  std::int64_t fixed = 0;
  std::string fixed_text;
  if (places == 0 && denominator_end < tokens.size() && tokens[denominator_end].kind == Kind::literal) {
    for (const char c : tokens[denominator_end].text) {
      if (c < '0' || c > '9' || fixed > 100'000) break;
      fixed = fixed * 10 + (c - '0');
    }
    // "/100": the zeros behind the 1 were read as places.
  }
  if (denominator_end < tokens.size() && fixed > 0) {
    fixed_text = tokens[denominator_end++].text;
    while (denominator_end < tokens.size() && tokens[denominator_end].kind == Kind::digit &&
           tokens[denominator_end].sign == '0' && fixed < 1'000'000) {
      fixed *= 10;
      fixed_text += '0';
      ++denominator_end;
    }
  }
  const bool has_whole = whole_layout.whole_places > 0;
  double whole = has_whole ? std::floor(magnitude) : 0;
  const double rest = magnitude - whole;
  Fraction value =
      fixed > 0
          ? Fraction{static_cast<std::int64_t>(std::min(std::round(rest * static_cast<double>(fixed)), 9e15)), fixed}
          : nearest_fraction(std::min(rest, 9e8),
                             static_cast<std::int64_t>(std::pow(10.0, std::clamp(places, 1, 6))) - 1);
  if (has_whole && value.above >= value.below) {
    whole += 1;
    value.above = 0;
  }
  std::string text;
  if (has_whole)
    text += whole_part(tokens, whole_layout, whole == 0 ? (value.above == 0 ? "0" : "") : digits_of(whole, 0).whole,
                       section.groups);
  else
    text += whole_part(tokens, whole_layout, "", false);
  const auto numerator_places = static_cast<std::size_t>(slash - numerator);
  std::string above = std::to_string(value.above), below = fixed > 0 ? fixed_text : std::to_string(value.below);
  if (above.size() < numerator_places) above.insert(0, numerator_places - above.size(), ' ');
  if (fixed == 0 && below.size() < static_cast<std::size_t>(places))
    below.resize(static_cast<std::size_t>(places), ' ');
  if (has_whole && value.above == 0) {
    text += std::string(above.size() + 1 + below.size(), ' ');
  } else {
    text += above + "/" + below;
  }
  for (std::size_t i = denominator_end; i < tokens.size(); ++i) text += tokens[i].text;
  return {text, whole == 0 && value.above == 0};
}

}  // namespace

NumberText format_number(const FormatSection& section, double magnitude) {
  if (section.has_general) {
    std::string text;
    for (const FormatToken& token : section.tokens)
      text += token.kind == Kind::general ? general_format(magnitude) : token.kind == Kind::percent ? "%" : token.text;
    return {text, magnitude == 0};
  }
  magnitude *= std::pow(100.0, section.percents);
  for (int i = 0; i < section.scale; ++i) magnitude /= 1000;
  if (!std::isfinite(magnitude)) return {"", true};
  const auto exponent = std::ranges::find(section.tokens, Kind::exponent, &FormatToken::kind);
  if (exponent != section.tokens.end())
    return scientific(section, magnitude, static_cast<std::size_t>(exponent - section.tokens.begin()));
  if (section.is_fraction) return fraction(section, magnitude);
  NumberText text = plain(section, magnitude);
  // A section of literals alone has no digits that could all be 0.
  if (!section.has_digits) text.is_zero = magnitude == 0;
  return text;
}

}  // namespace glmhost::formula
