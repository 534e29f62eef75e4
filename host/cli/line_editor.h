// Lines that a person types: with the cursor keys, and with what was typed before. On a terminal of Linux that is
// libedit's work; a Windows console does it by itself; what comes through a pipe is read as it is.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace glmhost::cli {

class LineEditor {
 public:
  // edit: stdin and stderr are a terminal.
  explicit LineEditor(bool edit);
  ~LineEditor();

  // The next line without its end; nothing at the end of the input (Ctrl-D). The prompt goes to stderr, and only where
  // lines are edited.
  std::optional<std::string> read(const std::string& prompt);

  // For the next Up key, in this process only: what people ask is not written to a disk behind their back.
  void remember(const std::string& line);

  // Gives the terminal back as it was, for a caller that ends the process while read() waits. From any thread.
  void restore_terminal();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace glmhost::cli
