// What the user can set, as the editor sends it: initializationOptions, and later workspace/didChangeConfiguration.
// Fields that are absent or of the wrong kind keep their default.
#pragma once

#include <string>
#include <vector>

#include "vscode-bridge/server/lsp/message.h"

namespace glmhost::session {

struct EditorSettings {
  bool enabled = true;
  std::string model;                       // empty: the daemon's default
  std::vector<std::string> exclude;        // patterns of paths
  std::vector<std::string> languages_off;  // editor's names of languages
  double least_logprob = -1.6;
  bool ahead = true;
  bool other_files = true;  // may be shown to the model
  int alternatives = 3;
  bool start_daemon = false;
  std::string glm_path;
};

EditorSettings read_settings(const lsp::Json& settings);

}  // namespace glmhost::session
