// Which files are never read and never sent to a model: those that look like secrets, those that git or the user
// ignores, and those that the settings exclude.
//
// Ignore files are those of every folder from the file's own up to the repository's (where .git is) or the workspace's
// root; they are read again when they have changed. Not thread-safe.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "vscode-bridge/server/workspace/ignore_rules.h"

namespace glmhost::workspace {

class Exclusion {
 public:
  void set_roots(std::vector<std::filesystem::path> roots) { roots_ = std::move(roots); }
  void set_patterns(std::vector<std::string> patterns) { patterns_ = std::move(patterns); }

  // Why the file is excluded, as a sentence for a person; nothing when it is not. The file need not exist.
  std::optional<std::string> reason(const std::filesystem::path& file);

 private:
  struct Known {
    std::filesystem::file_time_type changed;
    std::optional<IgnoreRules> rules;  // none: there is no such file
  };
  const IgnoreRules* rules_in(const std::filesystem::path& ignore_file);
  std::vector<std::filesystem::path> folders_above(const std::filesystem::path& file) const;
  std::optional<std::string> ignored_by(const std::filesystem::path& file);

  std::vector<std::filesystem::path> roots_;
  std::vector<std::string> patterns_;
  std::map<std::filesystem::path, Known> known_;
};

// By its name alone: .env, private keys, files of credentials.
bool looks_secret(const std::filesystem::path& file);

}  // namespace glmhost::workspace
