#include "host/cli/command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <functional>
#include <limits>
#include <optional>
#include <sstream>
#include <type_traits>

#include "host/cli/console.h"
#include "host/cli/exit_code.h"
#include "host/settings/nearest_name.h"

namespace glmhost::cli {
namespace {

// The whole text as a number; nothing otherwise. CLI11's own conversion takes "010" for 8, and its range check "nan".
template <class Number>
std::optional<Number> parse_number(const std::string& text) {
  Number value{};
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

// A flag's value that cannot be used. Goes through CLI11 to Command::parse, which knows the verb.
struct BadValue {
  std::string sentence;
};

std::string shown_name(const CLI::Option& option) {
  return option.get_lnames().empty() ? "-" + option.get_snames().front() : "--" + option.get_lnames().front();
}

template <class Number>
CLI::Option& add_number(CLI::App& app, const std::string& names, Number& value, Number least, Number most,
                        const std::string& what) {
  std::ostringstream range;
  range << least << " to " << most;
  CLI::Option* option = app.add_option_function<std::string>(
      names, [&value](const std::string& input) { value = *parse_number<Number>(input); }, what);
  option->check([option, least, most, range = range.str()](const std::string& input) -> std::string {
    const auto number = parse_number<Number>(input);
    if (number && *number >= least && *number <= most) return {};
    throw BadValue{"The value of " + shown_name(*option) + " is wrong: `" + input + "` is not " +
                   (std::is_floating_point_v<Number> ? "a" : "a whole") + " number from " + range + "."};
  });
  return *option;
}

constexpr std::size_t kColumns = 80;

// The words of `text` in lines that end before the column `most`, the first of which begins in the column `begin`, the
// others behind `indent` blanks. Line ends in the text stay.
std::string wrapped(std::string_view text, std::size_t begin = 0, std::size_t indent = 0) {
  std::string out;
  std::size_t column = begin;
  bool first = true;
  const auto next_line = [&] {
    out.append("\n").append(indent, ' ');
    column = indent;
    first = true;
  };
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '\n') {
      out += '\n';
      column = 0;
      first = true;
      ++at;
      continue;
    }
    const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
    const std::string_view word = text.substr(at, end - at);
    if (!first && column + 1 + word.size() > kColumns) next_line();
    if (!first) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    first = false;
    at = end < text.size() && text[end] == ' ' ? end + 1 : end;
  }
  return out;
}

class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::string usage) : usage_(std::move(usage)) {}
  std::string make_usage(const CLI::App*, std::string) const override { return usage_; }

  std::string make_option(const CLI::Option* option, bool positional) const override {
    constexpr std::size_t kNames = 30;
    std::string line = "  " + make_option_name(option, positional) + make_option_opts(option);
    if (line.size() + 2 > kNames) {
      line += "\n" + std::string(kNames, ' ');
    } else {
      line.append(kNames - line.size(), ' ');
    }
    return line + wrapped(make_option_desc(option), kNames, kNames) + "\n";
  }

 private:
  std::string usage_;
};

bool is_flag(const std::string& argument) {
  return argument.size() > 1 && argument[0] == '-';
}

}  // namespace

Command::Command(const CommandText& text) : text_(text) {
  std::string description(text.summary);
  if (!text.details.empty()) description.append("\n\n").append(wrapped(text.details));
  app_ = std::make_unique<CLI::App>(description);
  app_->allow_extras();
  app_->set_help_flag("-h,--help", "Show this text");
  std::string usage = "\nUsage: glm ";
  usage.append(text.verb).append(" [flags]").append(text.words.empty() ? "" : " ").append(text.words).append("\n");
  const auto formatter = std::make_shared<HelpFormatter>(usage);
  formatter->label("Options", "Flags");
  app_->formatter(formatter);
}

Command::~Command() = default;

CLI::Option& Command::add_value(CLI::Option& option, const std::string& placeholder, bool repeats) {
  option.option_text(placeholder);
  values_[&option] = {shown_name(option), placeholder, repeats};
  return option;
}

void Command::flag(const std::string& names, bool& value, const std::string& what) {
  app_->add_flag(names, value, what)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

void Command::text(const std::string& names, std::string& value, const std::string& placeholder,
                   const std::string& what) {
  add_value(*app_->add_option(names, value, what), placeholder);
}

void Command::texts(const std::string& names, std::vector<std::string>& values, const std::string& placeholder,
                    const std::string& what) {
  // One value each time; extra arguments would let CLI11 take "[x]" apart.
  add_value(*app_->add_option(names, values, what), placeholder, true)
      .expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void Command::number(const std::string& names, std::int32_t& value, std::int32_t least, std::int32_t most,
                     const std::string& what) {
  add_value(add_number(*app_, names, value, least, most, what), "N");
}

void Command::number(const std::string& names, float& value, float least, float most, const std::string& what) {
  add_value(add_number(*app_, names, value, least, most, what), "X");
}

void Command::number(const std::string& names, std::uint64_t& value, const std::string& what) {
  add_value(add_number(*app_, names, value, std::uint64_t{0}, std::numeric_limits<std::uint64_t>::max(), what), "N");
}

void Command::choice(const std::string& names, std::string& value, const std::vector<std::string>& choices,
                     const std::string& what) {
  std::string placeholder, list;
  for (const std::string& choice : choices) {
    placeholder += (placeholder.empty() ? "" : "|") + choice;
    list += (list.empty() ? "" : ", ") + choice;
  }
  CLI::Option* option = app_->add_option(names, value, what);
  option->check([option, choices, list](const std::string& input) -> std::string {
    if (std::ranges::find(choices, input) != choices.end()) return {};
    throw BadValue{"The value of " + shown_name(*option) + " is wrong: `" + input + "` is none of " + list + "."};
  });
  add_value(*option, placeholder);
}

bool Command::given(const std::string& flag) const {
  return app_->count(flag) > 0;
}

const CLI::Option* Command::option_named(const std::string& name) const {
  for (const CLI::Option* option : app_->get_options()) {
    if (option->check_name(name)) return option;
  }
  return nullptr;
}

// What CLI11 would take in silence or refuse in words for programmers: a value that is missing, so that the next flag
// would be taken for it, a flag that is given twice, and text in another encoding.
void Command::check_values(std::span<const std::string> arguments) const {
  std::map<const CLI::Option*, int> times;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (!is_flag(argument)) continue;
    const bool is_long = argument.starts_with("--");
    const std::size_t name_end = is_long ? std::min(argument.find('='), argument.size()) : 2;
    const auto found = values_.find(option_named(argument.substr(0, name_end)));
    if (found == values_.end()) continue;
    const auto& [shown, placeholder, repeats] = found->second;
    std::string value;
    if (name_end < argument.size()) {
      value = argument.substr(name_end + (is_long ? 1 : 0));
      if (value.empty()) refuse("The value of " + shown + " is missing: write `" + shown + " " + placeholder + "`.");
    } else if (i + 1 == arguments.size() || option_named(arguments[i + 1]) != nullptr) {
      refuse("The value of " + shown + " is missing: write `" + shown + " " + placeholder + "`" +
             (i + 1 == arguments.size() ? "." : " before `" + arguments[i + 1] + "`."));
    } else {
      value = arguments[++i];
    }
    if (!repeats && ++times[found->first] > 1) refuse("The flag " + shown + " is given twice; give it once.");
    const bool is_path = placeholder == "FILE" || placeholder == "FOLDER" || placeholder == "MODEL";
    if (!is_path) require_utf8(value, "The value of " + shown);
  }
}

std::string Command::help() const {
  std::string text = app_->help();
  text.resize(text.find_last_not_of('\n') + 1);
  text += '\n';
  if (option_named("--json") != nullptr) {
    text += "\n" +
            wrapped(
                "With --json a failure is told on stdout too, as {\"error\": {\"code\": \"...\", \"message\": "
                "\"...\"}}; the exit code stays the same.") +
            "\n";
  }
  return text + "\nExamples:\n" + std::string(text_.examples) + "\n";
}

void Command::parse(std::span<const std::string> arguments) {
  // What stands behind "--" is words, whatever it looks like.
  const auto dashes = text_.words.empty() ? arguments.end() : std::ranges::find(arguments, "--");
  std::vector<std::string> flags(arguments.begin(), dashes);
  check_values(flags);
  std::ranges::reverse(flags);  // as CLI11 wants them
  try {
    app_->parse(std::move(flags));
  } catch (const CLI::CallForHelp&) {
    throw HelpRequested{help()};
  } catch (const BadValue& bad) {
    refuse(bad.sentence);
  } catch (
      const CLI::ConversionError&) {  // values are texts to CLI11: what cannot be converted is the value of a switch
    for (const std::string& argument : arguments) {
      const std::string name = argument.substr(0, argument.find('='));
      if (name != argument && option_named(name) != nullptr && !values_.contains(option_named(name)))
        refuse("The flag " + name + " takes no value: `" + argument + "`.");
    }
    refuse("A flag has a value that it does not take.");
  } catch (const CLI::ParseError& error) {
    refuse(error.what());
  }
  for (const std::string& word : app_->remaining()) {
    if (is_flag(word)) refuse_unknown_flag(word);
    if (text_.words.empty()) refuse("`" + word + "` is not expected here.");
    words_.push_back(word);
  }
  if (dashes != arguments.end()) words_.insert(words_.end(), dashes + 1, arguments.end());
}

void Command::refuse(const std::string& sentence) const {
  throw Failure(ExitCode::usage,
                sentence + (sentence.ends_with('.') ? "" : ".") + " See `glm " + std::string(text_.verb) + " --help`.");
}

void Command::refuse_unknown_flag(const std::string& argument) const {
  const std::string written = argument.substr(0, argument.find('='));
  std::vector<std::string> names;
  for (const CLI::Option* option : app_->get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::string_view near = settings::nearest_name(written, views);
  std::string sentence = "There is no flag `" + written + "`";
  if (!near.empty())
    sentence += "; did you mean `" + std::string(near) + "`?";
  else if (!text_.words.empty())
    sentence += "; words that begin with a dash go behind `--`.";
  else
    sentence += ".";
  throw Failure(ExitCode::usage, sentence + " See `glm " + std::string(text_.verb) + " --help`.");
}

}  // namespace glmhost::cli
