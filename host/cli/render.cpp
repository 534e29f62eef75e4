#include <functional>
#include <memory>

#include "host/cli/command.h"
#include "host/cli/console.h"
#include "host/cli/json_lines.h"
#include "host/cli/json_text.h"
#include "host/cli/model_access.h"
#include "host/cli/verbs.h"
#include "host/settings/nearest_name.h"
#include "inference/chat/model_template.h"
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
        "rendered, or for which the template raises an exception, becomes {\"error\": \"...\"} there, and the exit "
        "code is 2. Empty lines are passed over.\n\n"
        "--template runs any chat template written in Jinja on the requests as they stand; with -m the special tokens "
        "(bos_token and the like) are that model's, else a request may bring them. -m alone renders as the daemon "
        "does: "
        "by the template in the model's file, or by the built-in one of its family.",
    .examples =
        "  glm render --family glm-4.6 --request request.json\n"
        "  echo '{\"messages\": [{\"role\": \"user\", \"content\": \"Hi\"}]}' |\n"
        "      glm render -m smollm2-135m --request -\n"
        "  glm render --family smollm2 --batch requests.jsonl\n"
        "  glm render --template chat_template.jinja --batch requests.jsonl",
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

// From the JSON of a request to its prompt.
using Renderer = std::function<chat::Prompt(const Json& request)>;

Renderer by_family(chat::Family family) {
  return [family](const Json& request) { return chat::render(family, chat::RenderRequest::from_json(request)); };
}

Renderer by_model(const std::string& model) {
  const auto file = open_model_file(model);
  const tokenizer::Tokenizer tokenizer(file);
  chat::ModelTemplate chat_template = chat::ModelTemplate::of(file, tokenizer);
  if (chat_template.empty()) {
    throw Failure(ExitCode::failure,
                  "The model has no chat template, and none of those that are built in is known to be its: name one "
                  "with --family. (It is " +
                      chat_template.description() + ".)");
  }
  return [chat_template = std::move(chat_template)](const Json& request) {
    return chat_template.render(chat::RenderRequest::from_json(request));
  };
}

Renderer by_file(const std::string& path, const std::string& model) {
  chat::SpecialTokens special;
  if (!model.empty()) {
    const auto file = open_model_file(model);
    special = chat::special_tokens(file, tokenizer::Tokenizer(file));
  }
  // The template is what the user gives here, not a file of ours: its errors are the user's.
  const auto as_usage = [](auto run) {
    try {
      return run();
    } catch (const jinja::TemplateError& error) {
      throw Error(ErrorKind::bad_argument, error.what());
    }
  };
  const auto source =
      as_usage([&] { return std::make_shared<const jinja::Template>(read_file_or_input(path, kMostInput)); });
  return [source, special = std::move(special), as_usage](const Json& request) {
    return as_usage([&] { return chat::render(*source, chat::RenderRequest::for_template(request), special); });
  };
}

std::string render_text(const Renderer& renderer, std::string_view request) {
  const Json json = Json::parse(request, nullptr, false);
  if (json.is_discarded()) throw Error(ErrorKind::bad_argument, "The request is not valid JSON.");
  return renderer(json).text();
}

ExitCode render_batch(const Renderer& renderer, const std::string& text) {
  return answer_each_line(text, [&](std::size_t, std::string_view line) {
    // ASCII: a reader that takes U+2028 or U+0085 for a line end still finds one value a line.
    return Json(render_text(renderer, line)).dump(-1, ' ', true, Json::error_handler_t::replace);
  });
}

ExitCode render(VerbArguments arguments) {
  Command command(kText);
  std::string model, family, file, request, batch;
  bool json = false;
  command.text("-m,--model", model, "MODEL", "Use the chat template of this model");
  command.text("--family", family, "NAME", "Use a built-in chat template: glm-4.6, glm-5.2, smollm2, ...");
  command.text("--template", file, "FILE", "Use the chat template in this file, written in Jinja");
  command.text("--request", request, "FILE", "Take one request from a file; - for stdin");
  command.text("--batch", batch, "FILE", "Take one request a line from a file; - for stdin");
  command.flag("--json", json, "Print one JSON string");
  command.parse(arguments);
  if (command.given("--request") == command.given("--batch")) {
    throw Failure(ExitCode::usage, "Give either --request or --batch.");
  }
  if (command.given("--family") && (command.given("--model") || command.given("--template"))) {
    throw Failure(ExitCode::usage, "Give either --family, or -m or --template.");
  }
  const Renderer renderer = command.given("--family")     ? by_family(family_named(family))
                            : command.given("--template") ? by_file(file, model)
                                                          : by_model(model);
  if (command.given("--batch")) return render_batch(renderer, read_file_or_input(batch, kMostInput));
  const std::string prompt = render_text(renderer, read_file_or_input(request, kMostInput));
  print(json ? Json(prompt).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n" : prompt);
  return ExitCode::success;
}

}  // namespace

const Verb kRender = {kText.verb, kText.summary, render};

}  // namespace glmhost::cli
