#include "vscode-bridge/server/workspace/ignore_rules.h"

#include <algorithm>
#include <utility>

namespace glmhost::workspace {
namespace {

// One step of a pattern.
struct Step {
  enum class Kind { character, any, set, star, star_star, star_star_slash } kind = Kind::character;
  char character = 0;
  std::vector<std::pair<char, char>> ranges;
  bool negated = false;
};

// A set at the front of PATTERN ("[...]"); nothing when it is not closed: then "[" is a character.
std::optional<Step> take_set(std::string_view& pattern) {
  Step step{.kind = Step::Kind::set, .character = 0, .ranges = {}, .negated = false};
  std::size_t i = 1;
  if (i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^')) {
    step.negated = true;
    ++i;
  }
  for (bool first = true; i < pattern.size(); first = false) {
    if (pattern[i] == ']' && !first) {
      pattern.remove_prefix(i + 1);
      return step;
    }
    if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
    const char low = pattern[i++];
    char high = low;
    if (i + 1 < pattern.size() && pattern[i] == '-' && pattern[i + 1] != ']') {
      high = pattern[i + 1];
      i += 2;
    }
    step.ranges.emplace_back(low, high);
  }
  return std::nullopt;
}

std::vector<Step> steps_of(std::string_view pattern) {
  std::vector<Step> steps;
  bool at_name_begin = true;
  while (!pattern.empty()) {
    Step step;
    step.character = pattern.front();
    const bool was_begin = std::exchange(at_name_begin, step.character == '/');
    if (pattern.starts_with("**/") && was_begin) {
      step.kind = Step::Kind::star_star_slash;
      pattern.remove_prefix(3);
      at_name_begin = true;
    } else if (pattern.starts_with("**") && was_begin && pattern.size() == 2) {
      step.kind = Step::Kind::star_star;
      pattern = {};
    } else if (step.character == '*') {
      step.kind = Step::Kind::star;
      while (pattern.starts_with('*')) pattern.remove_prefix(1);
    } else if (step.character == '?') {
      step.kind = Step::Kind::any;
      pattern.remove_prefix(1);
    } else if (auto set = step.character == '[' ? take_set(pattern) : std::nullopt) {
      step = *std::move(set);
    } else {
      if (step.character == '\\' && pattern.size() > 1) {
        pattern.remove_prefix(1);
        step.character = pattern.front();
      }
      pattern.remove_prefix(1);
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

bool takes(const Step& step, char c) {
  switch (step.kind) {
    case Step::Kind::character:
      return c == step.character;
    case Step::Kind::any:
    case Step::Kind::star:
      return c != '/';
    case Step::Kind::star_star:
    case Step::Kind::star_star_slash:
      return true;
    case Step::Kind::set:
      break;
  }
  if (c == '/') return false;
  for (const auto& [low, high] : step.ranges) {
    if (c >= low && c <= high) return !step.negated;
  }
  return step.negated;
}

bool repeats(const Step& step) {
  return step.kind == Step::Kind::star || step.kind == Step::Kind::star_star ||
         step.kind == Step::Kind::star_star_slash;
}

std::string_view last_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace

// All places of the pattern that the path so far can have led to, side by side.
bool glob_matches(std::string_view pattern, std::string_view path) {
  const std::vector<Step> steps = steps_of(pattern);
  std::vector<char> now(steps.size() + 1), next(steps.size() + 1);
  // Whoever stands before a repetition may also pass over it; over "**/" only where a name begins.
  const auto spread = [&](std::vector<char>& places, bool at_name_begin) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const bool can_pass = steps[i].kind == Step::Kind::star_star_slash ? at_name_begin : repeats(steps[i]);
      if (places[i] != 0 && can_pass) places[i + 1] = 1;
    }
  };
  now[0] = 1;
  spread(now, true);
  for (const char c : path) {
    next.assign(next.size(), 0);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (now[i] == 0 || !takes(steps[i], c)) continue;
      next[repeats(steps[i]) ? i : i + 1] = 1;
    }
    spread(next, c == '/');
    now.swap(next);
  }
  return now.back() != 0;
}

bool setting_matches(std::string_view pattern, std::string_view path) {
  if (pattern.find('/') == std::string_view::npos) return glob_matches(pattern, last_name(path));
  if (pattern.starts_with('/')) return glob_matches(pattern.substr(1), path);
  return glob_matches(pattern, path);
}

IgnoreRules::IgnoreRules(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    while (line.ends_with(' ') && !line.ends_with("\\ ")) line.remove_suffix(1);
    if (line.empty() || line.starts_with('#')) continue;
    Rule rule;
    if (line.starts_with('!')) {
      rule.keeps = true;
      line.remove_prefix(1);
    }
    if (line.ends_with('/')) {
      rule.folders_only = true;
      line.remove_suffix(1);
    }
    rule.anchored = line.find('/') != std::string_view::npos;
    if (line.starts_with('/')) line.remove_prefix(1);
    if (line.empty()) continue;
    rule.pattern = line;
    rules_.push_back(std::move(rule));
  }
}

std::optional<bool> IgnoreRules::ignores(std::string_view path, bool is_folder) const {
  for (auto rule = rules_.rbegin(); rule != rules_.rend(); ++rule) {
    if (rule->folders_only && !is_folder) continue;
    if (glob_matches(rule->pattern, rule->anchored ? path : last_name(path))) return !rule->keeps;
  }
  return std::nullopt;
}

}  // namespace glmhost::workspace
