#include "host/settings/key_table.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "host/platform/paths.h"
#include "host/settings/value_text.h"

namespace glmhost::settings {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 4> kLogLevels{"error", "warning", "info", "debug"};

constexpr std::uint64_t kMaxBytes = 1ull << 50;  // 1 PiB
constexpr std::int64_t kYear = 366ll * 86400;

bool is_port(std::string_view text) {
  const auto port = parse_integer(text);
  return port && *port >= 0 && *port <= 65535 && text.find_first_not_of("0123456789") == std::string_view::npos;
}

constexpr std::string_view kLoopback = "tcp://127.0.0.1:";

struct Assign {
  Settings& settings;
  const Row& row;
  const Origin& origin;
  std::string_view text;

  [[noreturn]] void bad(const std::string& expected) const { fail(origin, row.name, expected, quoted(text)); }

  void operator()(const Bytes& kind) const {
    const auto value = parse_bytes(text);
    if (!value || *value > kind.most) bad("a number of bytes such as 1073741824 or \"1 GiB\"");
    settings.*kind.field = *value;
  }
  void operator()(const Seconds& kind) const {
    const auto value = parse_seconds(text);
    if (!value || *value < kind.least || *value > kind.most) {
      bad("a number of seconds from " + std::to_string(kind.least) + " to " + std::to_string(kind.most) +
          ", or such as \"10m\" or \"2h\"");
    }
    settings.*kind.field = *value;
  }
  void operator()(const Number& kind) const {
    const auto value = parse_integer(text);
    if (!value || *value < kind.least || *value > kind.most) {
      bad("a whole number from " + std::to_string(kind.least) + " to " + std::to_string(kind.most));
    }
    settings.*kind.field = static_cast<std::int32_t>(*value);
  }
  void operator()(const Text& kind) const { settings.*kind.field = text; }
  void operator()(const Folder& kind) const {
    if (text.empty() || text.find('\0') != std::string_view::npos) bad("the path of a folder");
    fs::path path = platform::path_from_utf8(text);
    if (text == "~" || text.starts_with("~/") || text.starts_with("~\\")) {
      if (origin.home.empty()) {
        throw SettingsError(origin.place + ": " + std::string(row.name) +
                            " begins with ~, but there is no home folder; write the whole path.");
      }
      path = origin.home / platform::path_from_utf8(text.substr(std::min<std::size_t>(2, text.size())));
    }
    settings.*kind.field = (origin.base / path).lexically_normal();
  }
  void operator()(const Switch& kind) const {
    const auto value = parse_bool(text);
    if (!value) bad("true or false");
    settings.*kind.field = *value;
  }
  void operator()(const Level& kind) const {
    const auto found = std::find(kLogLevels.begin(), kLogLevels.end(), text);
    if (found == kLogLevels.end()) bad("error, warning, info or debug");
    settings.*kind.field = static_cast<LogLevel>(found - kLogLevels.begin());
  }
  void operator()(const EndpointText& kind) const {
    const bool port_given = text.starts_with(kLoopback) && is_port(text.substr(kLoopback.size()));
    if (text != "ipc" && text != "tcp" && !port_given) {
      bad("ipc, tcp or tcp://127.0.0.1:PORT (other machines cannot be let in)");
    }
    settings.*kind.field = text;
  }
};

// A TOML string: basic strings know these escapes, and paths of Windows come with forward slashes.
std::string toml_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out + '"';
}

struct Show {
  const Settings& settings;
  std::string operator()(const Bytes& kind) const {
    const std::string text = bytes_text(settings.*kind.field);
    return text.find(' ') == std::string::npos ? text : '"' + text + '"';
  }
  std::string operator()(const Seconds& kind) const { return std::to_string(settings.*kind.field); }
  std::string operator()(const Number& kind) const { return std::to_string(settings.*kind.field); }
  std::string operator()(const Text& kind) const { return toml_text(settings.*kind.field); }
  std::string operator()(const Folder& kind) const {
    std::string text = platform::to_utf8(settings.*kind.field);
    if (fs::path::preferred_separator != '/') std::ranges::replace(text, '\\', '/');
    return toml_text(text);
  }
  std::string operator()(const Switch& kind) const { return settings.*kind.field ? "true" : "false"; }
  std::string operator()(const Level& kind) const {
    return '"' + std::string(kLogLevels[static_cast<std::size_t>(settings.*kind.field)]) + '"';
  }
  std::string operator()(const EndpointText& kind) const { return '"' + settings.*kind.field + '"'; }
};

std::string_view kind_name(const Field& field) {
  struct Name {
    std::string_view operator()(const Bytes&) const { return "bytes"; }
    std::string_view operator()(const Seconds&) const { return "seconds"; }
    std::string_view operator()(const Number&) const { return "number"; }
    std::string_view operator()(const Text&) const { return "text"; }
    std::string_view operator()(const Folder&) const { return "folder"; }
    std::string_view operator()(const Switch&) const { return "true or false"; }
    std::string_view operator()(const Level&) const { return "text"; }
    std::string_view operator()(const EndpointText&) const { return "text"; }
  };
  return std::visit(Name{}, field);
}

}  // namespace

const std::array<Row, 16>& rows() {
  static const std::array<Row, 16> table{{
      {"default_model", Text{&Settings::default_model},
       "The model that answers a request which names none: a name from `glm models` or the path of a .gguf file. "
       "Default: "
       "smollm2-135m, or the only model there is."},
      {"models_folder", Folder{&Settings::models_folder},
       "Where `glm pull` puts models and names are looked up. Default: `models` in the data folder."},
      {"threads", Number{&Settings::threads, 0, 1024}, "Threads that compute. 0: one for each core."},
      {"memory_limit", Bytes{&Settings::memory_limit, kMaxBytes},
       "The most memory that all loaded models may take together, caches included. 0: what the machine has free when a "
       "model is loaded."},
      {"kv_bytes", Bytes{&Settings::kv_bytes, kMaxBytes},
       "The most memory for the cache of one model's running requests. 0: enough for the model's whole context and for "
       "max_sequences requests of 1024 tokens, at most 1 GiB."},
      {"keep_alive_s", Seconds{&Settings::keep_alive_s, -1, kYear},
       "How long a model stays in memory after its last request. 0: unloaded at once; -1: kept."},
      {"max_queue", Number{&Settings::max_queue, 1, 1'000'000},
       "The most requests that may be open at once, running ones included; more are refused as busy."},
      {"queue_bytes", Bytes{&Settings::queue_bytes, kMaxBytes},
       "The most memory that the prompts of open requests may take; more are refused as busy."},
      {"max_sequences", Number{&Settings::max_sequences, 1, 1024},
       "The most requests of one model that are computed side by side."},
      {"memo", Switch{&Settings::memo},
       "Whether finished answers are kept on disk, so that an equal request is never computed twice."},
      {"memo_limit", Bytes{&Settings::memo_limit, kMaxBytes},
       "The most disk space for kept answers; those not used for longest go first."},
      {"log_level", Level{&Settings::log_level},
       "What the log holds: error, warning, info or debug. Never a prompt or "
       "an answer."},
      {"log_file_bytes", Bytes{&Settings::log_file_bytes, kMaxBytes}, "When a log file has this size the next begins."},
      {"log_files", Number{&Settings::log_files, 1, 1000}, "How many log files are kept."},
      {"endpoint", EndpointText{&Settings::endpoint},
       "Where clients connect: ipc (a socket file of this user's, not on Windows), tcp (a free port of 127.0.0.1 with "
       "encryption and keys) or tcp://127.0.0.1:PORT."},
      {"idle_exit_s", Seconds{&Settings::idle_exit_s, 0, kYear},
       "The daemon ends after this time without a request. 0: never."},
  }};
  return table;
}

std::string quoted(std::string_view text) {
  constexpr std::size_t longest = 80;
  std::string out = "'";
  out += text.substr(0, longest);
  if (text.size() > longest) out += "...";
  return out + "'";
}

void fail(const Origin& origin, std::string_view key, std::string_view expected, std::string_view found) {
  throw SettingsError(origin.place + ": " + std::string(key) + " must be " + std::string(expected) + ", but it is " +
                      std::string(found) + ".");
}

void assign(Settings& settings, const Row& row, const Origin& origin, std::string_view text) {
  std::visit(Assign{settings, row, origin, text}, row.field);
}

std::string environment_name(std::string_view key) {
  std::string name(kEnvironmentPrefix);
  for (const char c : key) name += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return name;
}

std::string flag_name(std::string_view key) {
  std::string name = "--" + std::string(key);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::span<const Key> keys() {
  static const std::vector<Key> table = [] {
    std::vector<Key> out;
    for (const Row& row : rows()) {
      out.push_back({row.name, environment_name(row.name), flag_name(row.name), kind_name(row.field),
                     value_text({}, row), row.meaning});
    }
    return out;
  }();
  return table;
}

std::string value_text(const Settings& settings, const Row& row) {
  return std::visit(Show{settings}, row.field);
}

}  // namespace glmhost::settings
