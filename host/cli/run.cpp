#include <algorithm>
#include <nlohmann/json.hpp>

#include "host/cli/answer.h"
#include "host/cli/command.h"
#include "host/cli/console.h"
#include "host/cli/daemon_access.h"
#include "host/cli/form_flags.h"
#include "host/cli/generation_flags.h"
#include "host/cli/json_text.h"
#include "host/cli/verbs.h"
#include "host/platform/terminal.h"

namespace glmhost::cli {
namespace {

constexpr CommandText kText = {
    .verb = "run",
    .words = "[PROMPT...]",
    .summary = "Answer one prompt",
    .details =
        "The prompt is the words, then the text that comes through a pipe, with an empty line between. The answer "
        "is written to stdout as it is made. A daemon is started when none runs. Ctrl-C cancels.",
    .examples =
        "  glm run \"Name three uses of a pivot table\"\n"
        "  cat notes.txt | glm run \"Summarise\"\n"
        "  glm run -m glm-4-9b-0414 --temperature 0.7 --seed 1 \"Write a haiku\"\n"
        "  glm run --raw \"Once upon a time\"\n"
        "  glm run --choice positive,negative \"The mood of: I like it\"\n"
        "  glm run --json-schema person.json \"Invent a person\"\n"
        "  glm run --tools tools.json --tool-choice required \"Weather in Oslo?\"\n"
        "  glm run --json \"What is 2+2?\" | jq -r .content",
};

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string read_prompt(const std::vector<std::string>& words) {
  std::string prompt = joined(words);
  require_utf8(prompt, "The prompt");
  if (!platform::is_terminal(platform::Stream::in)) {
    const std::string piped = read_standard_input(protocol::kMaxBodyBytes);
    require_utf8(piped, "The standard input");
    if (!prompt.empty() && !piped.empty()) prompt += "\n\n";
    prompt += piped;
  }
  if (prompt.find_first_not_of(" \t\r\n") == std::string::npos) {
    throw Failure(ExitCode::usage,
                  "The prompt is empty. Give it as words (glm run \"Name three fish\") or through a pipe "
                  "(cat notes.txt | glm run \"Summarise\").");
  }
  return prompt;
}

ExitCode run(VerbArguments arguments) {
  Command command(kText);
  GenerationFlags generation;
  FormFlags form;
  generation.add_to(command);
  form.add_to(command);
  bool raw = false;
  bool json = false;
  bool batch = false;
  command.flag("--raw", raw, "Continue the prompt as it stands, without the model's chat template");
  command.flag("--batch", batch, "Let interactive requests go first");
  command.flag("--json", json, "Print one JSON object when the answer is complete");
  command.parse(arguments);
  if (raw && !generation.system().empty()) {
    throw Failure(ExitCode::usage,
                  "--system needs the model's chat template, which --raw leaves out: write the "
                  "instructions into the prompt.");
  }
  require_utf8(generation.system(), "The text of --system");

  protocol::Request request = generation.request();
  form.apply(command, request);
  if (raw && !request.tools.is_null()) {
    throw Failure(ExitCode::usage, "--tools needs the model's chat template, which --raw leaves out.");
  }
  std::string prompt = read_prompt(command.words());
  if (raw) {
    request.prompt = std::move(prompt);
  } else {
    request.messages = conversation(generation.system());
    request.messages.push_back({{"role", "user"}, {"content", std::move(prompt)}});
  }
  if (batch) request.priority = protocol::Priority::batch;
  if (json && !generation.show_thinking()) request.credits = 0;

  Interrupt interrupt;
  const auto client = connect(WithoutDaemon::start);
  const AnswerOptions options{.print = !json, .show_thinking = generation.show_thinking()};
  const protocol::Outcome outcome = stream_answer(*client, request, options, interrupt);
  const protocol::Result result = require_result(outcome);
  const bool cut = result.finish_reason == "length" || result.finish_reason == "context";
  const bool has_form = request.form || request.tool_choice.kind == protocol::ToolChoice::Kind::required ||
                        request.tool_choice.kind == protocol::ToolChoice::Kind::named;
  const bool call_is_cut = std::any_of(result.tool_calls.begin(), result.tool_calls.end(),
                                       [](const protocol::ToolCall& call) { return call.status == "cut_off"; });
  const bool incomplete = (has_form && cut) || call_is_cut;
  if (json) {
    Json answer = answer_json(result);
    if (incomplete) {
      answer.update(error_json(name(ExitCode::incomplete),
                               "The answer was cut before it had the whole form that was demanded; --max-tokens allows "
                               "more."));
    }
    print(json_line(answer));
  } else {
    for (const protocol::ToolCall& call : result.tool_calls) print(json_line(call_json(call)));
  }
  if (!json || incomplete) note_early_end(result, request.max_tokens);
  return incomplete ? ExitCode::incomplete : ExitCode::success;
}

}  // namespace

const Verb kRun = {kText.verb, kText.summary, run};

}  // namespace glmhost::cli
