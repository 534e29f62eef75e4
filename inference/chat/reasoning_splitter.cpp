#include <limits>
#include <utility>

#include "inference/chat/family.h"

namespace glmhost::chat {
namespace {

constexpr std::string_view kOpen = "<think>";
constexpr std::string_view kClose = "</think>";

bool is_blank(char byte) {
  return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

std::size_t own_newlines(AnswerNewlines newlines) {
  if (newlines == AnswerNewlines::kept) return 0;
  return newlines == AnswerNewlines::one_leading ? 1 : std::numeric_limits<std::size_t>::max();
}

}  // namespace

ReasoningSplitter::ReasoningSplitter(Family family, bool starts_in_reasoning)
    : state_(starts_in_reasoning    ? State::reasoning
             : facts(family).thinks ? State::start
                                    : State::content),
      trim_reasoning_(facts(family).newlines == AnswerNewlines::all_around),
      leading_newlines_(own_newlines(facts(family).newlines)) {}

ReasoningSplitter::ReasoningSplitter(Family family, const Prompt& prompt)
    : ReasoningSplitter(family, prompt.starts_in_reasoning) {
  if (prompt.continues_message) continue_message();
}

ReasoningSplitter::ReasoningSplitter(bool thinks, const Prompt& prompt)
    : state_(prompt.starts_in_reasoning ? State::reasoning
             : thinks                   ? State::start
                                        : State::content),
      trim_reasoning_(thinks || prompt.starts_in_reasoning),
      leading_newlines_(
          own_newlines(thinks || prompt.starts_in_reasoning ? AnswerNewlines::all_around : AnswerNewlines::kept)) {
  if (prompt.continues_message) continue_message();
}

void ReasoningSplitter::continue_message() {
  state_ = State::content;
  leading_newlines_ = 0;
}

ReasoningSplitter::Delta ReasoningSplitter::push(std::string_view text) {
  Delta out;
  if (state_ == State::content && leading_newlines_ == 0) {
    out.content = text;
    return out;
  }
  for (const char byte : text) feed(byte, out);
  return out;
}

ReasoningSplitter::Delta ReasoningSplitter::finish() {
  Delta out;
  const std::size_t matched = std::exchange(matched_, 0);
  if (state_ == State::start) {
    flush_blanks(out);
    for (const char byte : kOpen.substr(0, matched)) add_content(byte, out);
  } else if (state_ == State::reasoning) {
    for (const char byte : kClose.substr(0, matched)) add_reasoning(byte, out);
  }
  return out;
}

// '<' stands only at the beginning of both markers, so after a mismatch the byte at hand is the only one that can begin
// a marker anew.
void ReasoningSplitter::feed(char byte, Delta& out) {
  if (state_ == State::content) {
    add_content(byte, out);
    return;
  }
  const std::string_view marker = state_ == State::start ? kOpen : kClose;
  if (byte == marker[matched_]) {
    if (++matched_ < marker.size()) return;
    matched_ = 0;
    state_ = state_ == State::start ? State::reasoning : State::content;
    return;
  }
  const std::size_t matched = std::exchange(matched_, 0);
  if (state_ == State::reasoning) {
    for (const char seen : marker.substr(0, matched)) add_reasoning(seen, out);
    if (byte == marker[0]) {
      matched_ = 1;
    } else {
      add_reasoning(byte, out);
    }
    return;
  }
  if (matched == 0 && is_blank(byte)) {
    blanks_ += byte;
    return;
  }
  state_ = State::content;
  flush_blanks(out);
  for (const char seen : marker.substr(0, matched)) add_content(seen, out);
  add_content(byte, out);
}

void ReasoningSplitter::flush_blanks(Delta& out) {
  for (const char blank : std::exchange(blanks_, {})) add_content(blank, out);
}

void ReasoningSplitter::add_reasoning(char byte, Delta& out) {
  if (trim_reasoning_ && byte == '\n') {
    if (reasoning_begun_) ++held_newlines_;
    return;
  }
  out.reasoning.append(std::exchange(held_newlines_, 0), '\n');
  out.reasoning += byte;
  reasoning_begun_ = true;
}

void ReasoningSplitter::add_content(char byte, Delta& out) {
  if (leading_newlines_ > 0 && byte == '\n') {
    --leading_newlines_;
    return;
  }
  leading_newlines_ = 0;
  out.content += byte;
}

}  // namespace glmhost::chat
