#include <cstdio>
#include <iostream>

#include "host/cli/line_editor.h"

namespace glmhost::cli {

struct LineEditor::State {
  bool prompts = false;
};

LineEditor::LineEditor(bool edit) : state_(std::make_unique<State>()) {
  state_->prompts = edit;
}

LineEditor::~LineEditor() = default;

std::optional<std::string> LineEditor::read(const std::string& prompt) {
  if (state_->prompts) {
    std::fputs(prompt.c_str(), stderr);
    std::fflush(stderr);
  }
  std::string line;
  if (!std::getline(std::cin, line)) return std::nullopt;
  return line;
}

void LineEditor::remember(const std::string&) {}  // the console remembers

void LineEditor::restore_terminal() {}

}  // namespace glmhost::cli
