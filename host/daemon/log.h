// The daemon's log: daemon.log in the state folder, with rotation, readable by this user only.
//
// It tells what happened to whom and when, and how large it was: never a prompt, never an answer, nor a part of one.
//
// Thread rules: every member may be called from several threads at once.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "host/settings/settings.h"

namespace glmhost::daemon {

class Log {
 public:
  struct Options {
    std::filesystem::path folder;  // empty: no file
    bool to_stderr = false;        // besides the file
    settings::LogLevel level = settings::LogLevel::info;
    std::uint64_t file_bytes = 10u << 20;  // the file is put aside when it has this size
    int files = 5;                         // the running one and the older ones together
  };

  // Never throws because of the file: without one (read-only home, full disk) lines go to stderr, and problem() says
  // why.
  explicit Log(const Options& options);
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  // Control characters, which a client's name could hold, are replaced: one call is one line.
  void error(std::string_view line);
  void warning(std::string_view line);
  void info(std::string_view line);
  void debug(std::string_view line);
  bool writes_debug() const;

  const std::string& problem() const;  // empty when there is a file

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace glmhost::daemon
