// The table of settings: name, kind and range of each key, and how a value gets into Settings. Shared by the files of
// this folder; other folders see settings.h.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <variant>

#include "host/settings/settings.h"

namespace glmhost::settings {

inline constexpr std::string_view kEnvironmentPrefix = "GLM_HOST_";

struct Bytes {
  std::uint64_t Settings::*field;
  std::uint64_t most;
};
struct Seconds {
  std::int64_t Settings::*field;
  std::int64_t least, most;
};
struct Number {
  std::int32_t Settings::*field;
  std::int32_t least, most;
};
struct Text {
  std::string Settings::*field;
};
struct Folder {
  std::filesystem::path Settings::*field;
};
struct Switch {
  bool Settings::*field;
};
struct Level {
  LogLevel Settings::*field;
};
struct EndpointText {
  std::string Settings::*field;
};

using Field = std::variant<Bytes, Seconds, Number, Text, Folder, Switch, Level, EndpointText>;

struct Row {
  std::string_view name;
  Field field;
  std::string_view meaning;
};

const std::array<Row, 16>& rows();

// Where a value was written, for sentences and for relative paths.
struct Origin {
  std::string place;           // "config.toml, line 3", "The variable GLM_HOST_THREADS", "--threads"
  std::filesystem::path base;  // relative folders start here
  std::filesystem::path home;  // ~
};

// Values come as text, whatever their source, so that there is one set of rules. Throws SettingsError.
void assign(Settings& settings, const Row& row, const Origin& origin, std::string_view text);

// A value as one would write it in config.toml.
std::string value_text(const Settings& settings, const Row& row);

[[noreturn]] void fail(const Origin& origin, std::string_view key, std::string_view expected, std::string_view found);

std::string environment_name(std::string_view key);
std::string flag_name(std::string_view key);
std::string quoted(std::string_view text);  // cut short when long

}  // namespace glmhost::settings
