#include "vscode-bridge/server/session/settings.h"

#include <algorithm>

#include "vscode-bridge/server/lsp/params.h"

namespace glmhost::session {
namespace {

std::vector<std::string> texts(const lsp::Json& object, const char* name) {
  std::vector<std::string> out;
  const auto list = object.find(name);
  if (list == object.end() || !list->is_array()) return out;
  for (const lsp::Json& one : *list) {
    if (one.is_string() && out.size() < 1000) out.push_back(one.get<std::string>());
  }
  return out;
}

}  // namespace

EditorSettings read_settings(const lsp::Json& settings) {
  EditorSettings out;
  if (!settings.is_object()) return out;
  out.enabled = lsp::flag_or(settings, "enabled", out.enabled);
  out.model = lsp::text_or(settings, "model", out.model);
  out.exclude = texts(settings, "exclude");
  out.languages_off = texts(settings, "disabledLanguages");
  if (const auto least = settings.find("minimumConfidence"); least != settings.end() && least->is_number()) {
    // From 0, everything is shown, to 1, only what the model is nearly sure of.
    const double share = std::clamp(least->get<double>(), 0.0, 1.0);
    out.least_logprob = -4.0 * (1.0 - share);
  }
  out.ahead = lsp::flag_or(settings, "computeAhead", out.ahead);
  out.other_files = lsp::flag_or(settings, "contextFromOtherFiles", out.other_files);
  out.alternatives = static_cast<int>(std::clamp<std::int64_t>(lsp::number_or(settings, "alternatives", 3), 1, 8));
  out.start_daemon = lsp::flag_or(settings, "startDaemon", out.start_daemon);
  out.glm_path = lsp::text_or(settings, "glmPath", out.glm_path);
  return out;
}

}  // namespace glmhost::session
