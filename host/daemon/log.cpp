#include "host/daemon/log.h"

// The library is used header-only here and nowhere else: no other file pays for it, and Windows needs no build of it.
#define FMT_HEADER_ONLY 1
#ifdef _WIN32
#define SPDLOG_WCHAR_FILENAMES 1
#endif
#include <spdlog/logger.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <algorithm>
#include <vector>

#include "host/platform/paths.h"

namespace glmhost::daemon {
namespace {

namespace fs = std::filesystem;

spdlog::level::level_enum level_of(settings::LogLevel level) {
  switch (level) {
    case settings::LogLevel::error:
      return spdlog::level::err;
    case settings::LogLevel::warning:
      return spdlog::level::warn;
    case settings::LogLevel::info:
      return spdlog::level::info;
    case settings::LogLevel::debug:
      break;
  }
  return spdlog::level::debug;
}

// Files are made with the process's umask, which may let others read.
spdlog::file_event_handlers private_files() {
  spdlog::file_event_handlers handlers;
  handlers.after_open = [](const spdlog::filename_t& file, std::FILE*) {
    std::error_code ignored;  // the folder is closed to others too
    fs::permissions(fs::path(file), fs::perms::owner_read | fs::perms::owner_write, ignored);
  };
  return handlers;
}

std::string one_line(std::string_view text) {
  std::string line(text);
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return line;
}

}  // namespace

struct Log::State {
  std::unique_ptr<spdlog::logger> logger;
  std::string problem;

  void write(spdlog::level::level_enum level, std::string_view line) {
    if (logger->should_log(level)) logger->log(level, spdlog::string_view_t(one_line(line)));
  }
};

Log::Log(const Options& options) : state_(std::make_unique<State>()) {
  std::vector<spdlog::sink_ptr> sinks;
  if (!options.folder.empty()) {
    try {
      platform::make_private_folder(options.folder);
      // spdlog counts the older files only, and keeps none at 0.
      const auto older = static_cast<std::size_t>(std::max(options.files - 1, 0));
      sinks.push_back(std::make_shared<spdlog::sinks::rotating_file_sink_mt>(
          (options.folder / "daemon.log").native(),
          static_cast<std::size_t>(std::max<std::uint64_t>(options.file_bytes, 1)), older, false, private_files()));
    } catch (const std::exception& error) {
      state_->problem = "The log cannot be written, so it goes to stderr only: " + std::string(error.what());
    }
  }
  if (sinks.empty() || options.to_stderr) sinks.push_back(std::make_shared<spdlog::sinks::stderr_sink_mt>());
  state_->logger = std::make_unique<spdlog::logger>("daemon", sinks.begin(), sinks.end());
  state_->logger->set_level(level_of(options.level));
  state_->logger->set_pattern("%Y-%m-%d %H:%M:%S.%e %l: %v");
  state_->logger->flush_on(spdlog::level::debug);  // a killed daemon's last lines are the interesting ones
  // A disk that is full must not end the daemon, nor fill stderr with complaints.
  state_->logger->set_error_handler([](const std::string&) {});
}

Log::~Log() = default;

void Log::error(std::string_view line) {
  state_->write(spdlog::level::err, line);
}
void Log::warning(std::string_view line) {
  state_->write(spdlog::level::warn, line);
}
void Log::info(std::string_view line) {
  state_->write(spdlog::level::info, line);
}
void Log::debug(std::string_view line) {
  state_->write(spdlog::level::debug, line);
}
bool Log::writes_debug() const {
  return state_->logger->should_log(spdlog::level::debug);
}
const std::string& Log::problem() const {
  return state_->problem;
}

}  // namespace glmhost::daemon
