#include "vscode-bridge/server/workspace/exclusion.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <system_error>

#include "host/platform/paths.h"

namespace glmhost::workspace {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostIgnoreBytes = 1u << 20;
constexpr std::size_t kMostKnown = 4096;
constexpr int kMostFolders = 64;

constexpr std::array<std::string_view, 36> kSecretNames = {".env",
                                                           ".env.*",
                                                           "*.env",
                                                           ".envrc",
                                                           "*.pem",
                                                           "*.key",
                                                           "*.pfx",
                                                           "*.p12",
                                                           "*.jks",
                                                           "*.keystore",
                                                           "*.kdbx",
                                                           "*.ppk",
                                                           "id_rsa*",
                                                           "id_dsa*",
                                                           "id_ecdsa*",
                                                           "id_ed25519*",
                                                           ".netrc",
                                                           "_netrc",
                                                           ".npmrc",
                                                           ".pypirc",
                                                           ".pgpass",
                                                           ".htpasswd",
                                                           ".git-credentials",
                                                           "credentials",
                                                           "credentials.json",
                                                           "credentials.y*ml",
                                                           "secret.json",
                                                           "secret.y*ml",
                                                           "secrets.json",
                                                           "secrets.y*ml",
                                                           "secrets.toml",
                                                           "*.secret",
                                                           "*.secrets",
                                                           "service-account*.json",
                                                           ".dockercfg",
                                                           "*.tfvars"};
constexpr std::array<std::string_view, 4> kSecretFolders = {".ssh", ".aws", ".gnupg", ".kube"};
// Written to be read: the names without the values.
constexpr std::array<std::string_view, 4> kHarmless = {".env.example", ".env.sample", ".env.template", ".env.dist"};

std::string lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

std::optional<std::string> read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::nullopt;
  std::string text(kMostIgnoreBytes, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

std::string path_in(const fs::path& folder, const fs::path& file) {
  std::string text = platform::to_utf8(file.lexically_relative(folder));
  std::replace(text.begin(), text.end(), '\\', '/');
  return text;
}

bool is_below(const fs::path& file, const fs::path& folder) {
  const fs::path rest = file.lexically_relative(folder);
  return !rest.empty() && *rest.begin() != "..";
}

}  // namespace

bool looks_secret(const fs::path& file) {
  const std::string name = lower(platform::to_utf8(file.filename()));
  if (std::find(kHarmless.begin(), kHarmless.end(), name) != kHarmless.end()) return false;
  const bool by_name = std::any_of(kSecretNames.begin(), kSecretNames.end(),
                                   [&](std::string_view pattern) { return glob_matches(pattern, name); });
  if (by_name) return true;
  for (const fs::path& part : file.parent_path()) {
    const std::string folder = lower(platform::to_utf8(part));
    if (std::find(kSecretFolders.begin(), kSecretFolders.end(), folder) != kSecretFolders.end()) return true;
  }
  return false;
}

std::optional<std::string> Exclusion::reason(const fs::path& file) {
  std::error_code failure;
  const fs::path real = fs::weakly_canonical(file, failure);
  if (looks_secret(file) || (!failure && looks_secret(real))) {
    return "The file looks like one that holds secrets; such files are never read or sent to the model.";
  }
  for (const std::string& pattern : patterns_) {
    for (const fs::path& root : roots_) {
      if (is_below(file, root) && setting_matches(pattern, path_in(root, file))) {
        return "The setting glm.exclude has the pattern " + pattern + ".";
      }
    }
    if (setting_matches(pattern, platform::to_utf8(file)))
      return "The setting glm.exclude has the pattern " + pattern + ".";
  }
  return ignored_by(file);
}

const IgnoreRules* Exclusion::rules_in(const fs::path& ignore_file) {
  std::error_code failure;
  const auto changed = fs::last_write_time(ignore_file, failure);
  if (known_.size() > kMostKnown) known_.clear();
  const auto found = known_.find(ignore_file);
  const auto stamp = failure ? fs::file_time_type::min() : changed;
  if (found != known_.end() && found->second.changed == stamp) {
    return found->second.rules ? &*found->second.rules : nullptr;
  }
  Known known{stamp, std::nullopt};
  if (!failure && fs::is_regular_file(ignore_file, failure)) {
    if (const auto text = read(ignore_file)) known.rules.emplace(*text);
  }
  Known& place = known_[ignore_file];
  place = std::move(known);
  return place.rules ? &*place.rules : nullptr;
}

// From the outermost to the file's own.
std::vector<fs::path> Exclusion::folders_above(const fs::path& file) const {
  std::vector<fs::path> folders;
  fs::path folder = file.parent_path();
  std::optional<std::size_t> outermost;
  for (int i = 0; i < kMostFolders && !folder.empty(); ++i) {
    folders.push_back(folder);
    std::error_code failure;
    if (std::find(roots_.begin(), roots_.end(), folder) != roots_.end()) outermost = folders.size();
    if (fs::exists(folder / ".git", failure)) {
      outermost = folders.size();
      break;
    }
    const fs::path parent = folder.parent_path();
    if (parent == folder) break;
    folder = parent;
  }
  folders.resize(outermost.value_or(std::min<std::size_t>(folders.size(), 1)));
  std::reverse(folders.begin(), folders.end());
  return folders;
}

std::optional<std::string> Exclusion::ignored_by(const fs::path& file) {
  const std::vector<fs::path> folders = folders_above(file);
  for (const char* const kind : {".gitignore", ".glmignore", ".git/info/exclude"}) {
    // A folder that is ignored takes everything in it along, whatever is said further down.
    for (std::size_t depth = 1; depth <= folders.size(); ++depth) {
      const bool is_file = depth == folders.size();
      const fs::path& subject = is_file ? file : folders[depth];
      bool ignored = false;
      fs::path source;
      for (std::size_t i = 0; i < depth; ++i) {
        const IgnoreRules* rules = rules_in(folders[i] / kind);
        if (rules == nullptr) continue;
        if (const auto verdict = rules->ignores(path_in(folders[i], subject), !is_file)) {
          ignored = *verdict;
          source = folders[i] / kind;
        }
      }
      if (ignored) return "The file is ignored by " + platform::to_utf8(source) + ".";
    }
  }
  return std::nullopt;
}

}  // namespace glmhost::workspace
