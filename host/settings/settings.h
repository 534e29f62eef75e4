// What the owner of this machine can set: config.toml, overridden by the environment, overridden by flags.
//
//   config.toml   threads = 4              in platform::config_folder(); keys at the top level, no sections
//   environment   GLM_HOST_THREADS=4
//   flag          --threads 4
//
// All three know the same keys (keys()) and the same way to write a value: bytes as a number or "512 MiB", seconds as a
// number or "10m". A key that does not exist, a value of the wrong kind or out of its range is an error that names the
// place, what was found and what is allowed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace glmhost::settings {

enum class LogLevel { error, warning, info, debug };

// Every default stands here once; keys() says what each one means.
struct Settings {
  std::string default_model;            // empty: see model_store::ModelStore::resolve
  std::filesystem::path models_folder;  // absolute after load()
  std::int32_t threads = 0;             // 0: one for each core
  std::uint64_t memory_limit = 0;       // bytes; 0: what the machine has free
  std::uint64_t kv_bytes = 0;           // bytes for each model; 0: by the model's context
  std::int64_t keep_alive_s = 1800;     // -1: for ever
  std::int32_t max_queue = 4096;
  std::uint64_t queue_bytes = 256ull << 20;
  std::int32_t max_sequences = 32;
  bool memo = true;
  std::uint64_t memo_limit = 1ull << 30;  // bytes
  LogLevel log_level = LogLevel::info;
  std::uint64_t log_file_bytes = 10ull << 20;
  std::int32_t log_files = 5;
#ifdef _WIN32
  std::string endpoint = "tcp";
#else
  std::string endpoint = "ipc";
#endif
  std::int64_t idle_exit_s = 0;  // 0: never

  std::vector<std::string> warnings;  // whole sentences, for the log and `glm serve`: nothing that stops the daemon
};

struct Key {
  std::string_view name;      // in config.toml
  std::string environment;    // GLM_HOST_<NAME>
  std::string flag;           // --name-with-dashes
  std::string_view kind;      // "bytes", "seconds", "number", "text", "folder", "true or false"
  std::string default_value;  // as one would write it
  std::string_view meaning;
};

std::span<const Key> keys();  // in the order a person should read them

// what() is a whole sentence.
class SettingsError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

using Environment = std::vector<std::pair<std::string, std::string>>;  // UTF-8
Environment process_environment();

struct Flag {
  std::string key;  // as in config.toml
  std::string value;
};

// An absent config file is no error. Throws SettingsError.
Settings load(const std::filesystem::path& config_file, const Environment& environment, std::span<const Flag> flags);

// From this process's environment and platform::config_folder(). Throws SettingsError.
Settings load(std::span<const Flag> flags = {});

// All keys as a config.toml: commented as they are by default; where the file, the environment or a flag sets another
// value, with that value and where it comes from. Names the file. Throws SettingsError.
std::string documentation(const std::filesystem::path& config_file, const Environment& environment,
                          std::span<const Flag> flags);
std::string documentation(std::span<const Flag> flags = {});

}  // namespace glmhost::settings
