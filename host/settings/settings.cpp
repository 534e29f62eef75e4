#include "host/settings/settings.h"

// toml++ asserts that a table's name begins with a letter and then refuses it with a sentence when it does not ("[.]"): a
// damaged file must get the sentence in every build.
#define TOML_ASSERT(expr) static_assert(true)
#include <toml++/toml.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <vector>

#include "host/platform/paths.h"
#include "host/settings/key_table.h"
#include "host/settings/nearest_name.h"
#include "host/settings/value_text.h"

namespace glmhost::settings {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHomeVariable = "GLM_HOST_HOME";  // platform/paths.h reads it
constexpr std::size_t kMaxConfigBytes = 1u << 20;

const Row* find_row(std::string_view name) {
  for (const Row& row : rows()) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

std::string unknown_key(std::string_view what, std::string_view written, std::span<const std::string_view> known) {
  std::string sentence = "there is no " + std::string(what) + " " + quoted(written);
  const std::string_view near = nearest_name(written, known);
  if (!near.empty()) return sentence + "; did you mean " + std::string(near) + "?";
  sentence += "; known are ";
  for (std::size_t i = 0; i < known.size(); ++i) sentence += (i == 0 ? "" : ", ") + std::string(known[i]);
  return sentence + ".";
}

std::vector<std::string_view> row_names() {
  std::vector<std::string_view> names;
  for (const Row& row : rows()) names.push_back(row.name);
  return names;
}

std::string_view toml_kind(toml::node_type type) {
  switch (type) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "an array";
    case toml::node_type::string:
      return "a text";
    case toml::node_type::integer:
      return "a whole number";
    case toml::node_type::floating_point:
      return "a number with a fraction";
    case toml::node_type::boolean:
      return "true or false";
    case toml::node_type::date:
    case toml::node_type::time:
    case toml::node_type::date_time:
      return "a date or time";
    default:
      return "nothing";
  }
}

// A TOML value as text, where its kind is one that the key takes. Words for numbers ("yes" for memo, "4" for threads)
// are taken from the environment and flags only: TOML has kinds of its own.
std::optional<std::string> from_toml(const toml::node& node, const Field& field) {
  const bool number = std::holds_alternative<Number>(field);
  const bool measured = std::holds_alternative<Bytes>(field) || std::holds_alternative<Seconds>(field);
  const bool logical = std::holds_alternative<Switch>(field);
  if (const auto* value = node.as_integer(); value != nullptr && (number || measured))
    return std::to_string(value->get());
  if (const auto* value = node.as_boolean(); value != nullptr && logical) return value->get() ? "true" : "false";
  if (const auto* value = node.as_string(); value != nullptr && !number && !logical) return value->get();
  return std::nullopt;
}

std::string_view toml_expected(const Field& field) {
  if (std::holds_alternative<Number>(field)) return "a whole number";
  if (std::holds_alternative<Bytes>(field)) return "a number of bytes or a text such as \"1 GiB\"";
  if (std::holds_alternative<Seconds>(field)) return "a number of seconds or a text such as \"10m\"";
  if (std::holds_alternative<Switch>(field)) return "true or false";
  return "a text in quotation marks";
}

std::optional<std::string> read_config(const fs::path& file) {
  std::error_code failure;
  const fs::file_status status = fs::status(file, failure);
  if (status.type() == fs::file_type::not_found) return std::nullopt;
  const std::string shown = platform::to_utf8(file);
  if (status.type() == fs::file_type::directory) {
    throw SettingsError("The settings file " + shown + " is a folder; remove it or put a file there.");
  }
  std::ifstream in(file, std::ios::binary);
  std::string text;
  if (in) {
    text.resize(kMaxConfigBytes + 1);
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
  }
  if (!in.is_open() || in.bad()) {
    throw SettingsError("The settings file " + shown + " cannot be read; check its permissions.");
  }
  if (text.size() > kMaxConfigBytes) {
    throw SettingsError("The settings file " + shown + " is larger than " + bytes_text(kMaxConfigBytes) +
                        "; that is not a settings file.");
  }
  return text;
}

void apply_config(Settings& settings, const fs::path& file, const fs::path& home) {
  const std::optional<std::string> text = read_config(file);
  if (!text) return;
  const std::string shown = platform::to_utf8(file);
  const auto place = [&](const toml::source_position& at) { return shown + ", line " + std::to_string(at.line); };
  toml::table table;
  try {
    table = toml::parse(*text, shown);
  } catch (const toml::parse_error& error) {
    throw SettingsError(place(error.source().begin) + ", column " + std::to_string(error.source().begin.column) +
                        ": this is not valid TOML: " + std::string(error.description()) + ".");
  }
  // The table is sorted by name; a person reads from the top and expects the first mistake first.
  std::vector<std::pair<const toml::key*, const toml::node*>> entries;
  for (const auto& [key, node] : table) entries.emplace_back(&key, &node);
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    const auto at = [](const auto& entry) { return entry.first->source().begin; };
    return std::pair(at(a).line, at(a).column) < std::pair(at(b).line, at(b).column);
  });
  for (const auto& [key, node] : entries) {
    const Origin origin{place(key->source().begin), file.parent_path(), home};
    const Row* row = find_row(key->str());
    if (row == nullptr) throw SettingsError(origin.place + ": " + unknown_key("key", key->str(), row_names()));
    const std::optional<std::string> value = from_toml(*node, row->field);
    if (!value) fail(origin, row->name, toml_expected(row->field), toml_kind(node->type()));
    assign(settings, *row, origin, *value);
  }
}

void apply_environment(Settings& settings, const Environment& environment, const Origin& base) {
  std::vector<std::string> names;
  for (const Row& row : rows()) names.push_back(environment_name(row.name));
  const std::vector<std::string_view> known(names.begin(), names.end());
  for (const auto& [variable, value] : environment) {
    if (!variable.starts_with(kEnvironmentPrefix) || variable == kHomeVariable) continue;
    const auto found = std::find(known.begin(), known.end(), variable);
    if (found == known.end()) {
      // A warning only: the environment is shared with other programs and other versions of this one.
      settings.warnings.push_back("The environment holds " + variable + ", but " +
                                  unknown_key("variable", variable, known));
      continue;
    }
    if (value.empty()) continue;  // as unset, like everywhere on Unix
    const Row& row = rows()[static_cast<std::size_t>(found - known.begin())];
    assign(settings, row, Origin{"The environment variable " + variable, base.base, base.home}, value);
  }
}

fs::path home_folder(const Environment& environment) {
#ifdef _WIN32
  constexpr std::string_view variable = "USERPROFILE";
#else
  constexpr std::string_view variable = "HOME";
#endif
  for (const auto& [name, value] : environment) {
    if (name == variable) return platform::path_from_utf8(value);
  }
  return {};
}

fs::path config_path() {
  try {
    return platform::config_folder() / "config.toml";
  } catch (const std::runtime_error& error) {
    throw SettingsError(error.what());
  }
}

}  // namespace

Settings load(const fs::path& config_file, const Environment& environment, std::span<const Flag> flags) {
  Settings settings;
  const fs::path home = home_folder(environment);
  apply_config(settings, config_file, home);
  std::error_code failure;
  const Origin here{"", fs::current_path(failure), home};
  apply_environment(settings, environment, here);
  for (const Flag& flag : flags) {
    const Row* row = find_row(flag.key);
    if (row == nullptr) throw SettingsError(unknown_key("setting", flag.key, row_names()));
    assign(settings, *row, Origin{"The flag " + flag_name(flag.key), here.base, home}, flag.value);
  }
#ifdef _WIN32
  if (settings.endpoint == "ipc") {
    throw SettingsError("The endpoint cannot be ipc on Windows; set endpoint to tcp or leave it out.");
  }
#endif
  if (settings.models_folder.empty()) settings.models_folder = platform::data_folder() / "models";
  return settings;
}

Settings load(std::span<const Flag> flags) {
  return load(config_path(), process_environment(), flags);
}

std::string documentation(std::span<const Flag> flags) {
  return documentation(config_path(), process_environment(), flags);
}

}  // namespace glmhost::settings
