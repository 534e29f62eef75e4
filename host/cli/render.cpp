#include "host/cli/command.h"
#include "host/cli/console.h"
#include "host/cli/json_lines.h"
#include "host/cli/json_text.h"
#include "host/cli/model_access.h"
#include "host/cli/verbs.h"
#include "host/settings/nearest_name.h"
#include "inference/chat/template.h"
#include "inference/tokenizer/tokenizer.h"

namespace glmhost::cli {
namespace {

constexpr CommandText kText = {
    .verb = "render",
    .words = "",
    .summary = "Show the prompt that a conversation becomes",
    .details =
        "A request is a JSON object with messages and, where wanted, tools, add_generation_prompt, enable_thinking, "
        "continue_final_message and further template variables. The prompt is printed as it is, without a line "
        "end added. --batch takes one request a line and prints one JSON string a line; a request that cannot be "
        "rendered becomes {\"error\": \"...\"} there, and the exit code is 2.",
    .examples =
        "  glm render --family glm-4.6 --request request.json\n"
        "  echo '{\"messages\": [{\"role\": \"user\", \"content\": \"Hi\"}]}' | glm render -m smollm2-135m --request "
        "-\n"
        "  glm render --family smollm2 --batch requests.jsonl",
};

chat::Family family_named(const std::string& name) {
  if (const auto family = chat::find_family(name)) return *family;
  const auto names = chat::family_names();
  std::string list;
  for (const std::string_view each : names) list.append(list.empty() ? "" : ", ").append(each);
  const std::string_view near = settings::nearest_name(name, names);
  throw Failure(ExitCode::usage, "There is no family `" + name + "`." +
                                     (near.empty() ? "" : " Did you mean `" + std::string(near) + "`?") +
                                     " The families are " + list + ".");
}

chat::Family family_of_model(const std::string& model) {
  const auto file = open_model_file(model);
  const tokenizer::Tokenizer tokenizer(file);
  if (const auto family = chat::detect_family(file, tokenizer)) return *family;
  throw Failure(ExitCode::failure,
                "The model's chat template is none of those that are built in: name one with --family.");
}

std::string render_text(chat::Family family, std::string_view request) {
  const Json json = Json::parse(request, nullptr, false);
  if (json.is_discarded()) throw Error(ErrorKind::bad_argument, "The request is not valid JSON.");
  return chat::render(family, chat::RenderRequest::from_json(json)).text();
}

ExitCode render_batch(chat::Family family, const std::string& text) {
  ExitCode code = ExitCode::success;
  for_each_line(text, [&](std::size_t, std::string_view line) {
    Json out;
    try {
      out = render_text(family, line);
    } catch (const Error& error) {
      out = {{"error", error.what()}};
      code = exit_code(error.kind());
    }
    // ASCII: a reader that takes U+2028 or U+0085 for a line end still finds one value a line.
    print(out.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n");
  });
  return code;
}

ExitCode render(VerbArguments arguments) {
  Command command(kText);
  std::string model, family, request, batch;
  bool json = false;
  command.text("-m,--model", model, "MODEL", "Use the chat template of this model");
  command.text("--family", family, "NAME", "Use a built-in chat template: glm-4.6, glm-5.2, smollm2, ...");
  command.text("--request", request, "FILE", "Take one request from a file; - for stdin");
  command.text("--batch", batch, "FILE", "Take one request a line from a file; - for stdin");
  command.flag("--json", json, "Print one JSON string");
  command.parse(arguments);
  if (command.given("--request") == command.given("--batch")) {
    throw Failure(ExitCode::usage, "Give either --request or --batch.");
  }
  if (command.given("--model") && command.given("--family")) {
    throw Failure(ExitCode::usage, "Give either -m or --family.");
  }
  const chat::Family chosen = command.given("--family") ? family_named(family) : family_of_model(model);
  if (command.given("--batch")) return render_batch(chosen, read_file_or_input(batch, kMostInput));
  const std::string prompt = render_text(chosen, read_file_or_input(request, kMostInput));
  print(json ? Json(prompt).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n" : prompt);
  return ExitCode::success;
}

}  // namespace

const Verb kRender = {kText.verb, kText.summary, render};

}  // namespace glmhost::cli
