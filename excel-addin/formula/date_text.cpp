// Dates and times as they are typed in en-US.
#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "excel-addin/formula/calendar.h"
#include "excel-addin/formula/number_text.h"
#include "excel-addin/formula/text_units.h"

namespace glmhost::formula {
namespace {

struct Piece {
  enum class What { number, word, sign } what;
  std::string text;
  bool blank_before = false;
  int number() const {
    int value = -1;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }
};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

constexpr std::size_t kLongest = 64;  // no date is longer

std::vector<Piece> pieces_of(std::string_view text) {
  std::vector<Piece> pieces;
  bool blank = false;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == ' ') {
      blank = true;
      ++i;
      continue;
    }
    const std::size_t start = i;
    Piece::What what = Piece::What::sign;
    if (is_digit(text[i])) {
      what = Piece::What::number;
      while (i < text.size() && is_digit(text[i])) ++i;
    } else if (is_letter(text[i])) {
      what = Piece::What::word;
      while (i < text.size() && is_letter(text[i])) ++i;
    } else {
      ++i;
    }
    pieces.push_back({what, lower(text.substr(start, i - start)), blank});
    blank = false;
  }
  return pieces;
}

std::optional<int> month_named(std::string_view word) {
  constexpr std::array<std::string_view, 12> kMonths = {"january",   "february", "march",    "april",
                                                        "may",       "june",     "july",     "august",
                                                        "september", "october",  "november", "december"};
  if (word.size() < 3) return std::nullopt;
  for (std::size_t i = 0; i < kMonths.size(); ++i) {
    if (word == kMonths[i] || word == kMonths[i].substr(0, 3) || (word == "sept" && i == 8))
      return static_cast<int>(i) + 1;
  }
  return std::nullopt;
}

std::optional<std::int64_t> full_year(const Piece& piece) {
  const int year = piece.number();
  if (piece.what != Piece::What::number || year < 0) return std::nullopt;
  if (piece.text.size() <= 2) return year < 30 ? 2000 + year : 1900 + year;  // Windows' default window
  if (piece.text.size() == 4 && year >= 1900) return year;
  return std::nullopt;
}

std::int64_t this_year() {
  const auto today = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
  return static_cast<int>(std::chrono::year_month_day(today).year());
}

class DateReader {
 public:
  explicit DateReader(std::string_view text) : pieces_(pieces_of(text)) {}

  std::optional<Value> read() {
    std::optional<double> day, time;
    if (!looks_like_time(0)) {
      day = date();
      if (!day) return std::nullopt;
      if (at_ < pieces_.size()) {
        if (pieces_[at_].text == "t" && !looks_like_time(at_))
          ++at_;
        else if (!pieces_[at_].blank_before)
          return std::nullopt;
      }
    }
    if (at_ < pieces_.size()) {
      time = time_of_day();
      if (!time) return std::nullopt;
      if (!day && at_ < pieces_.size()) return std::nullopt;
    }
    if (at_ != pieces_.size() || (!day && !time)) return std::nullopt;
    const double serial = day.value_or(0) + time.value_or(0);
    return Value(serial, day && time ? NumberKind::date_time : day ? NumberKind::date : NumberKind::time);
  }

 private:
  bool is(std::size_t i, Piece::What what) const { return i < pieces_.size() && pieces_[i].what == what; }
  bool is_sign(std::size_t i, std::string_view sign) const { return i < pieces_.size() && pieces_[i].text == sign; }
  bool is_half(std::size_t i) const {
    return is(i, Piece::What::word) &&
           (pieces_[i].text == "am" || pieces_[i].text == "pm" || pieces_[i].text == "a" || pieces_[i].text == "p");
  }
  bool looks_like_time(std::size_t i) const {
    return is(i, Piece::What::number) && (is_sign(i + 1, ":") || is_half(i + 1));
  }

  std::optional<double> day_serial(std::int64_t year, int month, int day) const {
    if (month < 1 || month > 12 || day < 1) return std::nullopt;
    const bool false_leap_day = year == 1900 && month == 2 && day == 29;
    if (day > days_in_month(year, month) && !false_leap_day) return std::nullopt;
    const auto serial = serial_of({year, month, day});
    return serial ? std::optional(static_cast<double>(*serial)) : std::nullopt;
  }

  std::optional<double> date() {
    if (is(0, Piece::What::word)) return month_first();
    if (!is(0, Piece::What::number)) return std::nullopt;
    const std::size_t separator = is(1, Piece::What::sign) ? 1 : 0;
    const std::string sign = separator == 1 ? pieces_[1].text : "";
    if (separator == 1 && sign != "-" && sign != "/" && sign != ",") return std::nullopt;
    const std::size_t second = separator + 1;
    if (is(second, Piece::What::word)) return day_month(second, sign);
    return sign == "-" || sign == "/" ? all_digits(second, sign) : std::nullopt;
  }

  // 20-Jun-2008, 20 June 2008, 20-Jun
  std::optional<double> day_month(std::size_t word, const std::string& sign) {
    const auto month = month_named(pieces_[word].text);
    if (!month || pieces_[0].text.size() > 2) return std::nullopt;
    std::size_t next = word + 1;
    if (is_sign(next, sign) || is_sign(next, ",") || is_sign(next, "-")) ++next;
    if (!is(next, Piece::What::number) || looks_like_time(next)) {
      if (next != word + 1) return std::nullopt;
      at_ = next;
      return day_serial(this_year(), *month, pieces_[0].number());
    }
    const auto year = full_year(pieces_[next]);
    if (!year) return std::nullopt;
    at_ = next + 1;
    return day_serial(*year, *month, pieces_[0].number());
  }

  // January 23, 1951; Jan-2020; Jan 5
  std::optional<double> month_first() {
    const auto month = month_named(pieces_[0].text);
    if (!month) return std::nullopt;
    std::size_t next = 1;
    if (is_sign(next, "-") || is_sign(next, "/") || is_sign(next, ",") || is_sign(next, ".")) ++next;
    if (!is(next, Piece::What::number)) return std::nullopt;
    const Piece& first = pieces_[next++];
    const std::size_t behind = next;
    if (is_sign(next, ",") || is_sign(next, "-") || is_sign(next, "/")) ++next;
    if (first.text.size() <= 2 && is(next, Piece::What::number) && !looks_like_time(next)) {
      const auto year = full_year(pieces_[next]);
      if (!year) return std::nullopt;
      at_ = next + 1;
      return day_serial(*year, *month, first.number());
    }
    at_ = behind;
    if (first.text.size() == 4) {
      const auto year = full_year(first);
      return year ? day_serial(*year, *month, 1) : std::nullopt;
    }
    const int number = first.number();
    if (number <= days_in_month(this_year(), *month)) return day_serial(this_year(), *month, number);
    const auto year = full_year(first);
    return year ? day_serial(*year, *month, 1) : std::nullopt;
  }

  // 2024-01-10, 1/10/2024, 1/10, 1/2024
  std::optional<double> all_digits(std::size_t second, const std::string& sign) {
    if (!is(second, Piece::What::number)) return std::nullopt;
    const Piece& first = pieces_[0];
    const Piece& middle = pieces_[second];
    if (!is_sign(second + 1, sign) || !is(second + 2, Piece::What::number)) {
      if (is_sign(second + 1, sign) || first.text.size() > 2) return std::nullopt;
      at_ = second + 1;
      if (middle.text.size() == 4) {
        const auto year = full_year(middle);
        return year ? day_serial(*year, first.number(), 1) : std::nullopt;
      }
      const auto this_years = day_serial(this_year(), first.number(), middle.number());
      const auto year = full_year(middle);
      return this_years || !year ? this_years : day_serial(*year, first.number(), 1);
    }
    const Piece& last = pieces_[second + 2];
    at_ = second + 3;
    if (middle.text.size() > 2) return std::nullopt;
    if (first.text.size() == 4) {
      const auto year = full_year(first);
      return year && last.text.size() <= 2 ? day_serial(*year, middle.number(), last.number()) : std::nullopt;
    }
    const auto year = full_year(last);
    return year && first.text.size() <= 2 ? day_serial(*year, first.number(), middle.number()) : std::nullopt;
  }

  // 13:01, 1:02:03.5, 6 pm, 59:30.5 (minutes and seconds, when a fraction follows)
  std::optional<double> time_of_day() {
    std::array<double, 3> parts{};
    std::size_t count = 0;
    bool fraction = false;
    if (!looks_like_time(at_)) return std::nullopt;
    while (is(at_, Piece::What::number) && count < 3) {
      if (pieces_[at_].text.size() > 4) return std::nullopt;
      parts[count++] = pieces_[at_++].number();
      if (is_sign(at_, ".") && count > 1) {
        ++at_;
        fraction = true;
        if (is(at_, Piece::What::number)) parts[count - 1] += std::stod("0." + pieces_[at_++].text);
        break;
      }
      if (!is_sign(at_, ":")) break;
      ++at_;
      if (count > 1 && !is(at_, Piece::What::number)) break;  // "1:02:"
    }
    if (fraction && count == 2) {
      parts = {0, parts[0], parts[1]};
      count = 3;
    }
    double hours = parts[0];
    if (is_half(at_)) {
      if (hours < 0 || hours > 12) return std::nullopt;
      hours = std::fmod(hours, 12) + (pieces_[at_].text[0] == 'p' ? 12 : 0);
      ++at_;
    }
    // One part may run over its range.
    const int over = (hours >= 24 ? 1 : 0) + (parts[1] >= 60 ? 1 : 0) + (parts[2] >= 60 ? 1 : 0);
    if (over > 1) return std::nullopt;
    return (hours * 3600 + parts[1] * 60 + parts[2]) / 86400;
  }

  std::vector<Piece> pieces_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<Value> text_to_date(std::string_view text) {
  if (text.empty() || text.size() > kLongest || text.find(':') == std::string_view::npos) {
    // Blanks around a date make it text; around a time they do not.
    if (text.empty() || text.size() > kLongest || text.front() == ' ' || text.back() == ' ') return std::nullopt;
  }
  return DateReader(text).read();
}

}  // namespace glmhost::formula
