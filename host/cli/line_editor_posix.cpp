#include <histedit.h>
#include <langinfo.h>
#include <termios.h>
#include <unistd.h>

#include <clocale>
#include <cstdio>
#include <iostream>
#include <string_view>

#include "host/cli/line_editor.h"

namespace glmhost::cli {
namespace {

constexpr int kRemembered = 1000;  // lines

// libedit turns bytes into characters by the locale of the process. One that is not UTF-8 would show every other letter
// as a question mark, though this program speaks UTF-8 in any case.
void speak_utf8() {
  std::setlocale(LC_CTYPE, "");
  if (std::string_view(nl_langinfo(CODESET)) != "UTF-8") std::setlocale(LC_CTYPE, "C.UTF-8");
}

}  // namespace

struct LineEditor::State {
  EditLine* editor = nullptr;
  History* history = nullptr;
  termios terminal{};
  bool has_terminal = false;
  std::string prompt;

  State() = default;
  ~State() {
    if (editor != nullptr) el_end(editor);
    if (history != nullptr) history_end(history);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  static char* prompt_of(EditLine* editor) {
    State* state = nullptr;
    el_get(editor, EL_CLIENTDATA, &state);
    return state->prompt.data();
  }
};

LineEditor::LineEditor(bool edit) : state_(std::make_unique<State>()) {
  if (!edit) return;
  State& state = *state_;
  state.has_terminal = tcgetattr(STDIN_FILENO, &state.terminal) == 0;
  speak_utf8();
  state.editor = el_init("glm", stdin, stderr, stderr);
  state.history = history_init();
  if (state.editor == nullptr || state.history == nullptr) return;
  HistEvent event{};
  history(state.history, &event, H_SETSIZE, kRemembered);
  history(state.history, &event, H_SETUNIQUE, 1);
  el_set(state.editor, EL_CLIENTDATA, &state);
  el_set(state.editor, EL_PROMPT, &State::prompt_of);
  el_set(state.editor, EL_EDITOR, "emacs");
  el_set(state.editor, EL_HIST, history, state.history);
  // Keys that people know from their shell and libedit leaves unbound.
  el_set(state.editor, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  el_set(state.editor, EL_BIND, "\\e[3~", "ed-delete-next-char", nullptr);
  el_set(state.editor, EL_BIND, "\\e[1~", "ed-move-to-beg", nullptr);
  el_set(state.editor, EL_BIND, "\\e[4~", "ed-move-to-end", nullptr);
  el_set(state.editor, EL_BIND, "\\e[1;5C", "em-next-word", nullptr);
  el_set(state.editor, EL_BIND, "\\e[1;5D", "ed-prev-word", nullptr);
}

LineEditor::~LineEditor() = default;

std::optional<std::string> LineEditor::read(const std::string& prompt) {
  std::string line;
  if (state_->editor == nullptr) {
    if (!std::getline(std::cin, line)) return std::nullopt;
    return line;
  }
  state_->prompt = prompt;
  // Before the prompt is seen: el_gets would do it after that, and a key pressed in between would be the terminal's.
  el_set(state_->editor, EL_PREP_TERM, 1);
  int bytes = 0;
  const char* text = el_gets(state_->editor, &bytes);
  if (text == nullptr || bytes <= 0) return std::nullopt;
  line = text;
  if (line.ends_with('\n')) line.pop_back();
  return line;
}

void LineEditor::remember(const std::string& line) {
  if (state_->history == nullptr || line.empty()) return;
  HistEvent event{};
  history(state_->history, &event, H_ENTER, line.c_str());
}

void LineEditor::restore_terminal() {
  if (state_->has_terminal) tcsetattr(STDIN_FILENO, TCSADRAIN, &state_->terminal);
}

}  // namespace glmhost::cli
