// The functions that every template knows.
#include <array>

#include "inference/chat/jinja/runtime.h"

namespace glmhost::jinja {
namespace {

constexpr std::array<std::string_view, 12> kMonths = {"January",   "February", "March",    "April",
                                                      "May",       "June",     "July",     "August",
                                                      "September", "October",  "November", "December"};
constexpr std::array<std::string_view, 7> kDays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                   "Thursday", "Friday", "Saturday"};

std::string padded(int number, std::size_t width) {
  const std::string digits = std::to_string(number);
  return digits.size() < width ? std::string(width - digits.size(), '0') + digits : digits;
}

// One directive of strftime in the C locale.
std::string dated(char directive, LocalTime now) {
  const auto day = std::chrono::floor<std::chrono::days>(now);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(now - day);
  const auto month = static_cast<unsigned>(date.month());
  const auto weekday = std::chrono::weekday(day).c_encoding();
  const auto hour = static_cast<int>(time.hours().count());
  const int year = static_cast<int>(date.year());
  switch (directive) {
    case 'd':
      return padded(static_cast<int>(static_cast<unsigned>(date.day())), 2);
    case 'e': {
      const auto number = static_cast<unsigned>(date.day());
      return (number < 10 ? " " : "") + std::to_string(number);
    }
    case 'm':
      return padded(static_cast<int>(month), 2);
    case 'Y':
      return std::to_string(year);
    case 'y':
      return padded(year % 100, 2);
    case 'B':
      return std::string(kMonths[month - 1]);
    case 'b':
    case 'h':
      return std::string(kMonths[month - 1].substr(0, 3));
    case 'A':
      return std::string(kDays[weekday]);
    case 'a':
      return std::string(kDays[weekday].substr(0, 3));
    case 'w':
      return std::to_string(weekday);
    case 'j':
      return padded(static_cast<int>((day - std::chrono::local_days(date.year() / 1 / 1)).count()) + 1, 3);
    case 'H':
      return padded(hour, 2);
    case 'I':
      return padded(hour % 12 == 0 ? 12 : hour % 12, 2);
    case 'p':
      return hour < 12 ? "AM" : "PM";
    case 'M':
      return padded(static_cast<int>(time.minutes().count()), 2);
    case 'S':
      return padded(static_cast<int>(time.seconds().count()), 2);
    case 'f':
      return "000000";
    case 'D':
      return dated('m', now) + "/" + dated('d', now) + "/" + dated('y', now);
    case 'F':
      return dated('Y', now) + "-" + dated('m', now) + "-" + dated('d', now);
    case 'T':
    case 'X':
      return dated('H', now) + ":" + dated('M', now) + ":" + dated('S', now);
    case 'R':
      return dated('H', now) + ":" + dated('M', now);
    case 'x':
      return dated('D', now);
    case 'c':
      return dated('a', now) + " " + dated('b', now) + " " + dated('e', now) + " " + dated('T', now) + " " +
             dated('Y', now);
    case 'n':
      return "\n";
    case 't':
      return "\t";
    case '%':
      return "%";
    case 'Z':
    case 'z':
      return "";  // the time has no zone
    default:
      fail(std::string("strftime_now does not know %") + directive);
  }
}

Value strftime_now(Runtime& runtime, const Arguments& arguments) {
  const Parameters given("strftime_now()", arguments, {"format"}, 1);
  if (!runtime.now) fail("the date is not known");
  const Text& format = given.text(0);
  Text out;
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format.bytes()[i] != '%' || i + 1 == format.size()) {
      out.append(format, i, i + 1);
    } else {
      const bool plain = format.bytes()[i + 1] == '-' && i + 2 < format.size();  // without zeros or blanks in front
      if (plain) ++i;
      std::string shown = dated(format.bytes()[++i], *runtime.now);
      if (plain) shown.erase(0, std::min(shown.find_first_not_of("0 "), shown.size() - 1));
      out.append(shown, Origin::own);
    }
    runtime.budget.step();
  }
  return runtime.text(std::move(out));
}

Value raise_exception(Runtime& runtime, const Arguments& arguments) {
  const Parameters given("raise_exception()", arguments, {"message"}, 1);
  throw Fault{Failure::raised, to_text(runtime, *given[0]).bytes()};
}

Value range(Runtime& runtime, const Arguments& arguments) {
  const Parameters given("range()", arguments, {"start", "stop", "step"}, 1);
  const Int begin = given[1] ? given.whole(0, 0) : Int{0};
  const Int end = given[1] ? given.whole(1, 0) : given.whole(0, 0);
  const Int step = given.whole(2, 1);
  if (step == 0) fail("range() arg 3 must not be zero");
  std::vector<Value> items;
  for (Int i = begin; step > 0 ? i < end : i > end;) {
    if (items.size() == 100'000) throw Fault{Failure::limit, "it asks for a range of more than 100000 numbers"};
    items.emplace_back(i);
    if (__builtin_add_overflow(i, step, &i)) break;
  }
  runtime.budget.step(items.size());
  return runtime.list(std::move(items));
}

void take_entries(Runtime& runtime, const Value& from, const std::function<void(const Value&, const Value&)>& take) {
  if (from.is_dict()) {
    for (const auto& [key, value] : from.dict().entries()) take(key, value);
    return;
  }
  for (const Value& pair : iterate(runtime, from)) {
    const std::vector<Value> both = iterate(runtime, pair);
    if (both.size() != 2) fail("a dict is made of pairs");
    take(both[0], both[1]);
  }
}

Value dict(Runtime& runtime, const Arguments& arguments) {
  if (arguments.positional.size() > 1) fail("dict expected at most 1 argument");
  Dict made;
  if (!arguments.positional.empty()) {
    take_entries(runtime, arguments.positional[0], [&](const Value& key, const Value& value) { made.set(key, value); });
  }
  for (const auto& [name, value] : arguments.named) made.set(runtime.own(name), value);
  return runtime.dict(std::move(made));
}

Value make_namespace(Runtime& runtime, const Arguments& arguments) {
  const Value all = dict(runtime, arguments);
  Namespace made;
  for (const auto& [key, value] : all.dict().entries()) {
    if (!key.is_text()) fail("the names of a namespace must be strings");
    made.set(key.bytes(), value);
  }
  runtime.budget.step(made.members.size() * made.members.size());
  return runtime.space(std::move(made));
}

}  // namespace

std::vector<std::pair<std::string_view, Value>> global_functions() {
  return {{"range", make_function("range", range)},
          {"dict", make_function("dict", dict)},
          {"namespace", make_function("namespace", make_namespace)},
          {"raise_exception", make_function("raise_exception", raise_exception)},
          {"strftime_now", make_function("strftime_now", strftime_now)}};
}

}  // namespace glmhost::jinja
