#include "host/settings/settings.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <random>

#include "host/platform/paths.h"

namespace glmhost::settings {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("glm settings 設定 " + std::to_string(std::random_device{}()))) {
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  const fs::path& path() const { return path_; }
  fs::path config(std::string_view text) const {
    std::ofstream(path_ / "config.toml", std::ios::binary) << text;
    return path_ / "config.toml";
  }

 private:
  fs::path path_;
};

std::string sentence(const fs::path& file, const Environment& environment = {}, std::vector<Flag> flags = {}) {
  try {
    load(file, environment, flags);
  } catch (const SettingsError& error) {
    return error.what();
  }
  return "";
}

bool mentions(const std::string& text, std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts) {
    if (text.find(part) == std::string::npos) {
      MESSAGE("missing '" << std::string(part) << "' in: " << text);
      return false;
    }
  }
  return true;
}

TEST_CASE("without a config file everything has its default") {
  const Folder folder;
  const Settings settings = load(folder.path() / "config.toml", {}, {});
  CHECK(settings.default_model.empty());
  CHECK(settings.keep_alive_s == 1800);
  CHECK(settings.memo);
  CHECK(settings.models_folder.is_absolute());
  CHECK(settings.warnings.empty());
}

TEST_CASE("every key can be set in the file, and the documentation is such a file") {
  const Folder folder;
  const Settings settings = load(folder.config(R"(
default_model = "glm-4-9b-0414"
models_folder = "/srv/models"
threads = 3
memory_limit = "6 GiB"
kv_bytes = 1048576
keep_alive_s = "10m"
max_queue = 12
queue_bytes = "1.5 MiB"
max_sequences = 2
memo = false
memo_limit = "200MB"
log_level = "debug"
log_file_bytes = "64 KiB"
log_files = 2
endpoint = "tcp://127.0.0.1:8123"
idle_exit_s = 90
)"),
                                 {}, {});
  CHECK(settings.default_model == "glm-4-9b-0414");
  CHECK(settings.models_folder == fs::path("/srv/models"));
  CHECK(settings.threads == 3);
  CHECK(settings.memory_limit == 6ull << 30);
  CHECK(settings.kv_bytes == 1048576);
  CHECK(settings.keep_alive_s == 600);
  CHECK(settings.max_queue == 12);
  CHECK(settings.queue_bytes == 3u << 19);
  CHECK(settings.max_sequences == 2);
  CHECK_FALSE(settings.memo);
  CHECK(settings.memo_limit == 200'000'000);
  CHECK(settings.log_level == LogLevel::debug);
  CHECK(settings.log_file_bytes == 65536);
  CHECK(settings.log_files == 2);
  CHECK(settings.endpoint == "tcp://127.0.0.1:8123");
  CHECK(settings.idle_exit_s == 90);

  // With the comment signs taken away, every default reads back.
  std::string text;
  std::string doc = documentation();
  for (const Key& key : keys()) {
    const std::string assignment = "# " + std::string(key.name) + " = ";
    const auto at = doc.find(assignment);
    REQUIRE(at != std::string::npos);
    if (key.name != "models_folder") text += doc.substr(at + 2, doc.find('\n', at) - at - 1);
  }
  const Settings defaults = load(folder.config(text), {}, {});
  CHECK(defaults.queue_bytes == Settings{}.queue_bytes);
  CHECK(defaults.endpoint == Settings{}.endpoint);
  CHECK(load(folder.config(doc), {}, {}).max_sequences == Settings{}.max_sequences);
}

TEST_CASE("the documentation shows the values that hold and where they come from") {
  const Folder folder;
  const fs::path file = folder.config("max_queue = 7\nthreads = 1\nlog_files = 5\n");
  const Environment environment = {{"GLM_HOST_THREADS", "2"}, {"GLM_HOST_KV_BYTES", "1 GiB"}};
  const std::string doc =
      documentation(file, environment, std::vector<Flag>{{"default_model", "a \"b\" \\ c"}, {"kv_bytes", "1024"}});
  const auto has = [&](const std::string& line) { return doc.find("\n" + line + "\n") != std::string::npos; };
  CHECK(doc.find(glmhost::platform::to_utf8(file)) != std::string::npos);
  CHECK(doc.find("there is none yet") == std::string::npos);
  CHECK(has("max_queue = 7  # from config.toml"));
  CHECK(has("threads = 2  # from the environment variable GLM_HOST_THREADS"));
  CHECK(has("kv_bytes = \"1 KiB\"  # from the flag --kv-bytes"));
  CHECK(has("# log_files = 5"));  // as it is by default
  CHECK(has("default_model = \"a \\\"b\\\" \\\\ c\"  # from the flag --default-model"));

  const Settings again = load(folder.config(doc), {}, {});
  CHECK(again.threads == 2);
  CHECK(again.kv_bytes == 1024);
  CHECK(again.default_model == "a \"b\" \\ c");
  CHECK_THROWS_AS(documentation(file, {}, std::vector<Flag>{{"threads", "many"}}), SettingsError);
}

TEST_CASE("flags win over the environment, which wins over the file") {
  const Folder folder;
  const fs::path file = folder.config("threads = 1\nmax_queue = 1\nlog_files = 1\n");
  const Settings settings =
      load(file, {{"GLM_HOST_THREADS", "2"}, {"GLM_HOST_MAX_QUEUE", "2"}}, std::vector<Flag>{{"threads", "3"}});
  CHECK(settings.threads == 3);
  CHECK(settings.max_queue == 2);
  CHECK(settings.log_files == 1);
}

TEST_CASE("an empty variable counts as unset, an unknown one is a warning with the nearest name") {
  const Folder folder;
  const fs::path none = folder.path() / "config.toml";
  const Settings settings =
      load(none, {{"GLM_HOST_THREADS", ""}, {"GLM_HOST_HOME", "/x"}, {"GLM_HOST_THREAD", "2"}, {"PATH", "/bin"}}, {});
  CHECK(settings.threads == 0);
  REQUIRE(settings.warnings.size() == 1);
  CHECK(mentions(settings.warnings[0], {"GLM_HOST_THREAD'", "did you mean GLM_HOST_THREADS?"}));
}

TEST_CASE("an unknown key names file, line and the nearest key") {
  const Folder folder;
  const std::string text = sentence(folder.config("threads = 2\n\nkeep_alive = 3\n"));
  CHECK(mentions(text, {"config.toml, line 3", "'keep_alive'", "did you mean keep_alive_s?", "設定"}));
  CHECK(mentions(sentence(folder.config("zebra = 1\n")), {"line 1", "'zebra'", "known are default_model"}));
  CHECK(mentions(sentence(folder.config("[server]\nthreads = 1\n")), {"line 1", "'server'"}));
  CHECK(mentions(sentence(folder.path() / "none", {}, {{"treads", "1"}}), {"'treads'", "did you mean threads?"}));
  // The first mistake in the file is the one that is told, not the first in the alphabet.
  CHECK(mentions(sentence(folder.config("zebra = 1\napple = 1\n")), {"'zebra'"}));
}

TEST_CASE("a value of the wrong kind or out of its range names what is allowed and what was found") {
  const Folder folder;
  const auto of = [&](std::string_view text) { return sentence(folder.config(text)); };
  CHECK(mentions(of("threads = \"2\""), {"line 1", "threads must be a whole number", "a text"}));
  CHECK(mentions(of("threads = 2.5"), {"a number with a fraction"}));
  CHECK(mentions(of("threads = -1"), {"from 0 to 1024", "'-1'"}));
  CHECK(mentions(of("threads = 99999999999"), {"from 0 to 1024"}));
  CHECK(mentions(of("max_queue = 0"), {"from 1 to"}));
  CHECK(mentions(of("memo = 1"), {"memo must be true or false", "a whole number"}));
  CHECK(mentions(of("memo = \"yes\""), {"memo must be true or false", "a text"}));
  CHECK(mentions(of("kv_bytes = \"lots\""), {"1 GiB", "'lots'"}));
  CHECK(mentions(of("kv_bytes = -5"), {"'-5'"}));
  CHECK(mentions(of("keep_alive_s = -2"), {"from -1"}));
  CHECK(mentions(of("keep_alive_s = 1979-05-27"), {"a date or time"}));
  CHECK(mentions(of("log_level = \"loud\""), {"error, warning, info or debug", "'loud'"}));
  CHECK(mentions(of("default_model = [\"a\"]"), {"an array"}));
  CHECK(mentions(of("threads = {a = 1}"), {"a table"}));
  for (const char* endpoint : {"tcp://0.0.0.0:80", "tcp://127.0.0.1:", "tcp://127.0.0.1:65536", "tcp://127.0.0.1:+1",
                               "tcp://localhost:1", "http", ""}) {
    CHECK(mentions(of("endpoint = \"" + std::string(endpoint) + "\""), {"tcp://127.0.0.1:PORT"}));
  }
  CHECK(mentions(sentence(folder.path() / "none", {{"GLM_HOST_THREADS", "two"}}),
                 {"The environment variable GLM_HOST_THREADS", "'two'"}));
  CHECK(mentions(sentence(folder.path() / "none", {}, {{"max_queue", "x"}}), {"The flag --max-queue", "'x'"}));
  // A long value is cut in the sentence.
  CHECK(sentence(folder.path() / "none", {}, {{"threads", std::string(100'000, '9')}}).size() < 300);
}

TEST_CASE("what is no settings file is told apart") {
  const Folder folder;
  CHECK(mentions(sentence(folder.config("threads = \n")), {"line 1", "column", "not valid TOML"}));
  CHECK(mentions(sentence(folder.config("threads = 1\nthreads = 2\n")), {"line 2", "not valid TOML"}));
  CHECK(mentions(sentence(folder.config("a = \"\xff\"\n")), {"line 1", "not valid TOML"}));
  CHECK(mentions(sentence(folder.config(std::string("\0\0\0", 3))), {"not valid TOML"}));
  CHECK(mentions(sentence(folder.config(std::string(2 << 20, '#'))), {"larger than 1 MiB"}));
  CHECK(mentions(sentence(folder.path()), {"is a folder"}));
  CHECK(mentions(sentence(folder.config(std::string(100'000, '['))), {"not valid TOML"}));
  CHECK(mentions(sentence(folder.config("[.]\n")), {"line 1", "not valid TOML"}));
  CHECK(sentence(folder.config("\xef\xbb\xbfthreads = 1\r\n")).empty());  // as Windows editors write it
}

TEST_CASE("folders may begin with ~ and are relative to the place that names them") {
  const Folder folder;
#ifdef _WIN32
  const Environment environment{{"USERPROFILE", platform::to_utf8(folder.path())}};
#else
  const Environment environment{{"HOME", platform::to_utf8(folder.path())}};
#endif
  CHECK(load(folder.config("models_folder = \"~/模型\""), environment, {}).models_folder ==
        folder.path() / platform::path_from_utf8("模型"));
  CHECK(load(folder.config("models_folder = \"models\""), {}, {}).models_folder == folder.path() / "models");
  CHECK(load(folder.path() / "none", {}, std::vector<Flag>{{"models_folder", "models"}}).models_folder ==
        fs::current_path() / "models");
  CHECK(mentions(sentence(folder.config("models_folder = \"~/m\"")), {"no home folder"}));
}

}  // namespace
}  // namespace glmhost::settings
