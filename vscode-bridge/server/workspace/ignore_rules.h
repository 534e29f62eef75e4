// The rules of one ignore file, as git reads .gitignore (gitignore(5)).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace glmhost::workspace {

// Shell patterns in paths with "/": * and ? stop at a slash, ** does not, [a-z] and [!a-z] are sets, \ takes the next
// character as it stands. Time is bounded by the product of the two lengths.
bool glob_matches(std::string_view pattern, std::string_view path);

// A pattern of the editor's settings: one without a slash means a name in any folder.
bool setting_matches(std::string_view pattern, std::string_view path);

class IgnoreRules {
 public:
  explicit IgnoreRules(std::string_view file_text);

  // Of a path relative to the file's folder: the last rule that matches decides. Nothing when none does.
  std::optional<bool> ignores(std::string_view path, bool is_folder) const;

 private:
  struct Rule {
    std::string pattern;
    bool keeps = false;  // began with !
    bool folders_only = false;
    bool anchored = false;  // has a slash before its end: from the file's own folder
  };
  std::vector<Rule> rules_;
};

}  // namespace glmhost::workspace
