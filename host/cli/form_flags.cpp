#include "host/cli/form_flags.h"

#include <nlohmann/json.hpp>

#include "host/cli/console.h"
#include "host/cli/exit_code.h"

namespace glmhost::cli {
namespace {

using protocol::OutputForm;

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// "a, b, c" in one flag; a flag given several times brings one label each, which is then taken as it stands.
std::vector<std::string> labels(const std::vector<std::string>& given) {
  if (given.size() > 1) return given;
  std::vector<std::string> labels;
  std::string_view rest = given.front();
  while (true) {
    const std::size_t comma = rest.find(',');
    labels.emplace_back(without_blanks(rest.substr(0, comma)));
    if (comma == std::string_view::npos) return labels;
    rest.remove_prefix(comma + 1);
  }
}

nlohmann::ordered_json read_tools(const std::string& file) {
  const std::string text = read_file_or_input(file, protocol::kMaxBodyBytes);
  nlohmann::ordered_json tools;
  try {
    tools = nlohmann::ordered_json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    throw Failure(ExitCode::usage, "The file of --tools is not JSON (byte " + std::to_string(error.byte) +
                                       "): it must hold a list of tools, as OpenAI's API takes them.");
  }
  if (tools.is_object()) tools = nlohmann::ordered_json::array({tools});
  if (!tools.is_array()) {
    throw Failure(ExitCode::usage, "The file of --tools must hold a list of tools, as OpenAI's API takes them.");
  }
  return tools;
}

std::string_view name_of(const nlohmann::ordered_json& tool) {
  const auto* function = tool.is_object() && tool.contains("function") ? &tool["function"] : &tool;
  const auto* name =
      function->is_object() && function->contains("name") ? (*function)["name"].get_ptr<const std::string*>() : nullptr;
  return name == nullptr ? std::string_view() : std::string_view(*name);
}

protocol::ToolChoice choice_named(const std::string& text, const nlohmann::ordered_json& tools) {
  using Kind = protocol::ToolChoice::Kind;
  if (text == "none") return {Kind::none, {}};
  if (text == "auto") return {Kind::automatic, {}};
  if (text == "required") return {Kind::required, {}};
  std::string known;
  for (const auto& tool : tools) {
    if (name_of(tool) == text) return {Kind::named, text};
    known += (known.empty() ? "" : ", ") + std::string(name_of(tool));
  }
  throw Failure(ExitCode::usage,
                "--tool-choice is none, auto, required or the name of a tool, but the file of --tools "
                "has no tool `" +
                    text.substr(0, 80) + "`. It has: " + known + ".");
}

}  // namespace

void FormFlags::add_to(Command& command) {
  command.text("--json-schema", schema_, "FILE", "The answer is JSON that satisfies this schema; - for stdin");
  command.texts("--choice", choices_, "A,B,C",
                "The answer is one of these; give the flag again for labels with commas");
  command.text("--regex", regex_, "REGEX", "The whole answer matches this regular expression");
  command.text("--grammar", grammar_, "FILE", "The answer is in the language of this GBNF grammar; - for stdin");
  command.choice("--type", type_, {"number", "date", "boolean", "list", "grid"}, "The answer is a value of this type");
  command.text("--tools", tools_, "FILE",
               "Tools that the model may call (JSON); each call is a line of JSON behind the answer");
  command.text("--tool-choice", tool_choice_, "CHOICE",
               "Whether a tool is called: none, auto, required, or the name of the one to be called (default: auto)");
}

void FormFlags::apply(const Command& command, protocol::Request& request) const {
  int forms = 0;
  for (const char* flag : {"--json-schema", "--choice", "--regex", "--grammar", "--type"}) {
    forms += command.given(flag) ? 1 : 0;
  }
  const bool tools = command.given("--tools");
  if (forms + (tools ? 1 : 0) > 1) {
    throw Failure(ExitCode::usage,
                  "Give only one of --json-schema, --choice, --regex, --grammar, --type and --tools: an answer has one "
                  "form.");
  }
  if (forms > 0 && command.given("--stop")) {
    throw Failure(ExitCode::usage, "--stop cannot be used with a form of the answer: the form says where it ends.");
  }
  if (command.given("--tool-choice") && !tools) {
    throw Failure(ExitCode::usage, "--tool-choice needs --tools: the tools to choose from.");
  }
  if (tools) request.tools = read_tools(tools_);
  if (command.given("--tool-choice")) {
    require_utf8(tool_choice_, "The name in --tool-choice");
    request.tool_choice = choice_named(tool_choice_, request.tools);
  }
  if (forms == 0) return;
  OutputForm& form = request.form.emplace();
  if (command.given("--choice")) {
    form.kind = OutputForm::Kind::choice;
    form.choices = labels(choices_);
  } else if (command.given("--regex")) {
    form.kind = OutputForm::Kind::regex;
    form.text = regex_;
  } else if (command.given("--grammar")) {
    form.kind = OutputForm::Kind::grammar;
    form.text = read_file_or_input(grammar_, protocol::kMaxBodyBytes);
  } else if (command.given("--type")) {
    form.kind = OutputForm::Kind::type;
    form.text = type_;
  } else {
    form.kind = OutputForm::Kind::json_schema;
    form.text = read_file_or_input(schema_, protocol::kMaxBodyBytes);
  }
  for (const std::string& text : form.choices) require_utf8(text, "A label of --choice");
  require_utf8(form.text, "The form of the answer");
}

}  // namespace glmhost::cli
