#include "host/cli/command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <sstream>
#include <type_traits>

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

template <class Number>
void add_number(CLI::App& app, const std::string& names, Number& value, Number least, Number most,
                const std::string& what, const std::string& placeholder) {
  std::ostringstream range;
  range << least << " to " << most;
  const auto check = [least, most, range = range.str()](const std::string& input) -> std::string {
    const auto number = parse_number<Number>(input);
    if (number && *number >= least && *number <= most) return {};
    return "`" + input + "` is not " + (std::is_floating_point_v<Number> ? "a" : "a whole") + " number from " + range;
  };
  app.add_option_function<std::string>(
         names, [&value](const std::string& input) { value = *parse_number<Number>(input); }, what)
      ->check(check)
      ->option_text(placeholder);
}

CLI::Validator one_of(const std::vector<std::string>& choices) {
  std::string list;
  for (const std::string& choice : choices) list += (list.empty() ? "" : ", ") + choice;
  return CLI::Validator(
      [choices, list](std::string& input) -> std::string {
        if (std::ranges::find(choices, input) != choices.end()) return {};
        return "`" + input + "` is none of " + list;
      },
      list);
}

// Lines of at most 80 characters (all of them ASCII).
std::string wrapped(std::string_view text) {
  constexpr std::size_t kColumns = 80;
  std::string out;
  while (text.size() > kColumns) {
    const std::size_t space = text.rfind(' ', kColumns);
    out.append(text.substr(0, space)).append("\n");
    text.remove_prefix(space + 1);
  }
  return out.append(text);
}

class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::string usage) : usage_(std::move(usage)) { column_width(34); }
  std::string make_usage(const CLI::App*, std::string) const override { return usage_; }

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
  app_->footer(std::string("Examples:\n").append(text.examples));
}

Command::~Command() = default;

void Command::flag(const std::string& names, bool& value, const std::string& what) {
  app_->add_flag(names, value, what);
}

void Command::text(const std::string& names, std::string& value, const std::string& placeholder,
                   const std::string& what) {
  app_->add_option(names, value, what)->option_text(placeholder);
}

void Command::texts(const std::string& names, std::vector<std::string>& values, const std::string& placeholder,
                    const std::string& what) {
  // One value each time; extra arguments would let CLI11 take "[x]" apart.
  app_->add_option(names, values, what)
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->option_text(placeholder);
}

void Command::number(const std::string& names, std::int32_t& value, std::int32_t least, std::int32_t most,
                     const std::string& what) {
  add_number(*app_, names, value, least, most, what, "N");
}

void Command::number(const std::string& names, float& value, float least, float most, const std::string& what) {
  add_number(*app_, names, value, least, most, what, "X");
}

void Command::number(const std::string& names, std::uint64_t& value, const std::string& what) {
  add_number(*app_, names, value, std::uint64_t{0}, std::numeric_limits<std::uint64_t>::max(), what, "N");
}

void Command::choice(const std::string& names, std::string& value, const std::vector<std::string>& choices,
                     const std::string& what) {
  std::string placeholder;
  for (const std::string& choice : choices) placeholder += (placeholder.empty() ? "" : "|") + choice;
  app_->add_option(names, value, what)->check(one_of(choices))->option_text(placeholder);
}

bool Command::given(const std::string& flag) const {
  return app_->count(flag) > 0;
}

void Command::parse(std::span<const std::string> arguments) {
  // What stands behind "--" is words, whatever it looks like.
  const auto dashes = text_.words.empty() ? arguments.end() : std::ranges::find(arguments, "--");
  std::vector<std::string> flags(arguments.begin(), dashes);
  std::ranges::reverse(flags);  // as CLI11 wants them
  try {
    app_->parse(std::move(flags));
  } catch (const CLI::CallForHelp&) {
    throw HelpRequested{app_->help()};
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
