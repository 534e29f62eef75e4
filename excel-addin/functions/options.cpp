#include "excel-addin/functions/options.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <vector>

#include "excel-addin/formula/number_text.h"
#include "excel-addin/formula/syntax_error.h"
#include "excel-addin/formula/text_units.h"
#include "excel-addin/functions/call_error.h"

namespace glmhost::functions {
namespace {

const std::vector<std::string_view> kNames = {"model", "temperature", "max_tokens", "seed", "thinking"};

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

[[noreturn]] void bad_value(std::string_view name, std::string_view value, std::string_view wanted) {
  throw CallError("The option " + std::string(name) + " is " + std::string(wanted) + ", not \"" + std::string(value) +
                  "\".");
}

double number_of(std::string_view name, std::string_view value, double most, std::string_view wanted) {
  std::string text(value);
  if (const auto comma = text.find(','); comma != std::string::npos && text.find('.') == std::string::npos) {
    text[comma] = '.';
  }
  const std::optional<double> number = formula::plain_text_to_number(text);
  if (!number || !(*number >= 0 && *number <= most)) bad_value(name, value, wanted);
  return *number;
}

// Whole numbers are read as such: a double would lose the end of a long seed.
std::uint64_t whole_number_of(std::string_view name, std::string_view value, std::uint64_t least, std::uint64_t most,
                              std::string_view wanted) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size() || number < least || number > most) {
    bad_value(name, value, wanted);
  }
  return number;
}

bool switch_of(std::string_view name, std::string_view value) {
  for (const std::string_view yes : {"on", "true", "yes", "1"}) {
    if (formula::equal_without_case(value, yes)) return true;
  }
  for (const std::string_view no : {"off", "false", "no", "0"}) {
    if (formula::equal_without_case(value, no)) return false;
  }
  bad_value(name, value, "on or off");
}

void set(Options& options, std::string_view name, std::string_view value) {
  if (name == "model") {
    options.model = value;
  } else if (name == "temperature") {
    options.temperature = number_of(name, value, 10, "a number from 0 to 10");
  } else if (name == "max_tokens") {
    options.max_tokens =
        static_cast<std::int32_t>(whole_number_of(name, value, 1, 1'048'576, "a whole number from 1 to 1048576"));
  } else if (name == "seed") {
    options.seed = whole_number_of(name, value, 0, UINT64_MAX, "a whole number, 0 or more");
  } else {
    options.thinking = switch_of(name, value);
  }
}

std::string_view known_name(std::string_view written) {
  for (const std::string_view name : kNames) {
    if (formula::equal_without_case(name, written)) return name;
  }
  const std::string_view near = formula::nearest_of(written, kNames);
  throw CallError("There is no option \"" + std::string(written) + "\"." +
                  (near.empty() ? std::string() : " Did you mean " + std::string(near) + "?") +
                  " Options are model, temperature, max_tokens, seed and thinking, as in \"temperature=0.5; seed=7\".");
}

}  // namespace

Options parse_options(std::string_view text, Options options) {
  std::set<std::string_view> given;
  while (!text.empty()) {
    const auto end = text.find_first_of(";\n");
    const std::string_view entry = trimmed(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (entry.empty()) continue;
    const auto equals = entry.find('=');
    if (equals == std::string_view::npos) {
      throw CallError("The option \"" + std::string(entry) + "\" has no value: write name=value, and ; between two.");
    }
    const std::string_view name = known_name(trimmed(entry.substr(0, equals)));
    if (!given.insert(name).second) throw CallError("The option " + std::string(name) + " is given twice.");
    const std::string_view value = trimmed(entry.substr(equals + 1));
    if (value.empty()) throw CallError("The option " + std::string(name) + " has no value.");
    set(options, name, value);
  }
  return options;
}

void apply(const Options& options, protocol::Request& request) {
  request.model = options.model;
  request.temperature = static_cast<float>(options.temperature);
  request.max_tokens = options.max_tokens;
  request.seed = options.seed;
  request.enable_thinking = options.thinking;
}

}  // namespace glmhost::functions
