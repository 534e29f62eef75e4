#include <sstream>
#include <system_error>

#include "host/platform/paths.h"
#include "host/settings/key_table.h"
#include "host/settings/settings.h"

namespace glmhost::settings {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kColumns = 100;

std::string comment(std::string_view text) {
  std::string out, line = "#";
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    if (line.size() + 1 + word.size() > kColumns) {
      out += line + "\n";
      line.resize(1);
    }
    line += " " + word;
  }
  return out + line + "\n";
}

}  // namespace

std::string documentation(const fs::path& config_file, const Environment& environment, std::span<const Flag> flags) {
  // What each step adds tells where a value comes from.
  Environment home;  // what ~ stands for is no setting
  for (const auto& variable : environment) {
    if (!variable.first.starts_with(kEnvironmentPrefix)) home.push_back(variable);
  }
  Settings defaults;
  defaults.models_folder = platform::data_folder() / "models";
  const Settings by_file = load(config_file, home, {});
  const Settings by_environment = load(config_file, environment, {});
  const Settings by_flags = load(config_file, environment, flags);

  std::error_code ignored;
  std::string out =
      "# Settings of GLM Host. Flags of `glm serve` override the environment, which overrides this file:\n# " +
      platform::to_utf8(config_file) + (fs::exists(config_file, ignored) ? "" : " (there is none yet)") + "\n";
  for (std::size_t i = 0; i < keys().size(); ++i) {
    const Key& key = keys()[i];
    const Row& row = rows()[i];
    out += "\n" + comment(key.meaning) + "# " + key.environment + ", " + key.flag + "\n";
    const std::string value = value_text(by_flags, row);
    std::string source;
    if (value != value_text(by_environment, row)) {
      source = "the flag " + key.flag;
    } else if (value != value_text(by_file, row)) {
      source = "the environment variable " + key.environment;
    } else if (value != value_text(defaults, row)) {
      source = platform::to_utf8(config_file.filename());
    }
    if (source.empty()) {
      out += "# " + std::string(key.name) + " = " + key.default_value + "\n";
    } else {
      out += std::string(key.name) + " = " + value + "  # from " + source + "\n";
    }
  }
  return out;
}

}  // namespace glmhost::settings
