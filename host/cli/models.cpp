#include <optional>

#include "host/cli/command.h"
#include "host/cli/console.h"
#include "host/cli/json_text.h"
#include "host/cli/model_access.h"
#include "host/cli/text_table.h"
#include "host/cli/verbs.h"
#include "host/model_store/byte_size.h"
#include "host/model_store/catalogue.h"
#include "host/platform/paths.h"
#include "inference/chat/template.h"
#include "inference/tokenizer/tokenizer.h"

namespace glmhost::cli {
namespace {

using model_store::byte_size;

constexpr CommandText kText = {
    .verb = "models",
    .words = "",
    .summary = "List the models you have, or those you can pull",
    .details = "Works without the daemon. A file that cannot be used is listed with the reason.",
    .examples =
        "  glm models\n"
        "  glm models --catalogue\n"
        "  glm models --json | jq -r '.[] | select(.error == null) | .name'",
};

struct Described {
  model_store::StoredModel model;
  std::string architecture;
  std::string tokenizer;
  std::string chat_template;  // the family's name; empty: none that is known
  std::string note;
  std::string error;  // why it cannot be used
};

Described describe(const model_store::StoredModel& model) {
  Described out;
  out.model = model;
  try {
    const auto file = model_files::GgufFile::open(model.path);
    out.architecture = file.architecture();
    architectures::Model::estimate(file);  // says when the architecture or a type is not supported
    const tokenizer::Tokenizer tokenizer(file);
    out.tokenizer = tokenizer.kind();
    if (const auto family = chat::detect_family(file, tokenizer)) out.chat_template = chat::name(*family);
    if (const std::int32_t unreachable = tokenizer.unreachable_tokens(); unreachable > 0) {
      out.note = std::to_string(unreachable) + " tokens cannot be reached by its merges";
    }
  } catch (const Error& error) {
    out.error = error.what();
  }
  return out;
}

ExitCode list_stored(bool json) {
  const model_store::ModelStore store = open_store();
  Json array = Json::array();
  Table table({"MODEL", "SIZE", "ARCHITECTURE", "TOKENIZER", "CHAT TEMPLATE"});
  std::string remarks;
  for (const model_store::StoredModel& model : store.list()) {
    const Described described = describe(model);
    table.add(
        {model.name, byte_size(model.bytes), described.architecture, described.tokenizer, described.chat_template});
    if (!described.note.empty()) remarks += model.name + ": " + described.note + ".\n";
    if (!described.error.empty()) remarks += model.name + " cannot be used: " + described.error + "\n";
    Json entry = {{"name", model.name},
                  {"path", platform::to_utf8(model.path)},
                  {"bytes", model.bytes},
                  {"architecture", described.architecture},
                  {"tokenizer", described.tokenizer},
                  {"chat_template", described.chat_template},
                  {"note", described.note}};
    if (!described.error.empty()) entry["error"] = described.error;
    array.push_back(std::move(entry));
  }
  if (json) {
    print(json_line(array));
  } else if (table.empty()) {
    print("There are no models in " + platform::to_utf8(store.folder()) +
          " yet. `glm pull smollm2-135m` brings a small one, `glm models --catalogue` lists others.\n");
  } else {
    print(table.text() + (remarks.empty() ? "" : "\n" + remarks));
  }
  return ExitCode::success;
}

ExitCode list_catalogue(bool json) {
  Json array = Json::array();
  Table table({"NAME", "SIZE", "MACHINE", "LICENCE", "WHAT"});
  std::string remarks;
  for (const model_store::CatalogueModel& model : model_store::catalogue()) {
    if (model.for_tests) continue;
    Json quantisations = Json::array();
    for (const model_store::Quantisation& quantisation : model.quantisations) {
      const std::string name = model_store::stored_name({model.name, quantisation.name});
      table.add({name, byte_size(quantisation.bytes),
                 "from " + std::to_string(model_store::machine_memory_gb(quantisation.bytes)) + " GB", model.license,
                 model.title + (model.needs.empty() ? "" : " *")});
      quantisations.push_back({{"name", name},
                               {"bytes", quantisation.bytes},
                               {"memory_gb", model_store::machine_memory_gb(quantisation.bytes)}});
    }
    if (!model.needs.empty())
      remarks += "* " + model.name + " cannot run yet: this version lacks " + model.needs + ".\n";
    array.push_back({{"name", model.name},
                     {"title", model.title},
                     {"architecture", model.architecture},
                     {"license", model.license},
                     {"runs", model.needs.empty()},
                     {"quantisations", std::move(quantisations)}});
  }
  print(json ? array.dump() + "\n" : table.text() + "\n" + remarks);
  return ExitCode::success;
}

ExitCode models(VerbArguments arguments) {
  Command command(kText);
  bool json = false;
  bool catalogue = false;
  command.flag("--catalogue", catalogue, "List what `glm pull` can bring by name");
  command.flag("--json", json, "Print a JSON array");
  command.parse(arguments);
  return catalogue ? list_catalogue(json) : list_stored(json);
}

}  // namespace

const Verb kModels = {kText.verb, kText.summary, models};

}  // namespace glmhost::cli
