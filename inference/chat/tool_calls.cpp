#include "inference/chat/tool_calls.h"

#include <algorithm>
#include <array>
#include <utility>

#include "inference/chat/argument_schema.h"
#include "inference/chat/conversation.h"
#include "inference/chat/jinja/python_text.h"
#include "inference/error.h"

namespace glmhost::chat {
namespace {

using Status = ToolCallResult::Status;
using Event = ToolCallParser::Event;

constexpr std::string_view kOpen = "<tool_call>";
constexpr std::string_view kClose = "</tool_call>";
constexpr std::string_view kKey = "<arg_key>";
constexpr std::string_view kKeyEnd = "</arg_key>";
constexpr std::string_view kValue = "<arg_value>";
constexpr std::string_view kValueEnd = "</arg_value>";
constexpr std::string_view kPythonTag = "<|python_tag|>";

bool is_blank(char byte) {
  return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::size_t leading_blanks(std::string_view text) {
  return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_blank) - text.begin());
}

// How much of the text's end may be the beginning of the marker.
std::size_t begun_marker(std::string_view text, std::string_view marker) {
  for (std::size_t length = std::min(text.size(), marker.size() - 1); length > 0; --length) {
    if (text.ends_with(marker.substr(0, length))) return length;
  }
  return 0;
}

bool may_become(std::string_view text, std::string_view marker) {
  return text.size() < marker.size() && marker.starts_with(text);
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// How a call begins, white space left out.
constexpr std::string_view kCallStarts[] = {"{\"name\":\"", "{\"type\":\"function\""};

std::string beginning_of(std::string_view text) {
  std::string squeezed;
  for (const char byte : text.substr(0, 200)) {
    if (!is_blank(byte)) squeezed += byte;
  }
  return squeezed;
}

bool looks_like_call(std::string_view text) {
  const std::string beginning = beginning_of(text);
  return std::any_of(std::begin(kCallStarts), std::end(kCallStarts),
                     [&](std::string_view start) { return beginning.starts_with(start); });
}

bool may_be_call(std::string_view text) {
  const std::string beginning = beginning_of(text);
  return looks_like_call(text) || std::any_of(std::begin(kCallStarts), std::end(kCallStarts),
                                              [&](std::string_view start) { return start.starts_with(beginning); });
}

}  // namespace

std::string_view name(ToolCallResult::Status status) {
  constexpr std::array<std::string_view, 5> kNames = {"complete", "cut_off", "unknown_tool", "bad_arguments",
                                                      "malformed"};
  return kNames[static_cast<std::size_t>(status)];
}

ToolCallFormat tool_call_format(std::optional<Family> family, std::string_view source) {
  if (family) {
    switch (*family) {
      case Family::glm_4_6:
      case Family::glm_4_7_flash:
      case Family::glm_5_2:
        return ToolCallFormat::arg_tags;
      case Family::glm_4_9b_chat:
      case Family::glm_z1:
        return ToolCallFormat::name_line;
      case Family::llama_3_1:
      case Family::llama_3_2:
        return ToolCallFormat::bare_json;
      case Family::smollm2:
        return ToolCallFormat::tagged_json;
      default:
        break;
    }
  }
  if (has(source, kKey)) return ToolCallFormat::arg_tags;
  if (has(source, "<function=")) return ToolCallFormat::none;  // Qwen3-Coder's own form is not known here
  if (has(source, kOpen)) return ToolCallFormat::tagged_json;
  return has(source, "<|python_tag|>") ? ToolCallFormat::bare_json : ToolCallFormat::none;
}

ToolCallParser::ToolCallParser(ToolCallFormat format, const Json& tools) : format_(format) {
  if (tools.is_array()) {
    for (const Json& tool : tools) {
      if (tool.is_object() && !function_name(function_of(tool)).empty()) functions_.push_back(function_of(tool));
    }
  }
  if (functions_.empty()) format_ = ToolCallFormat::none;
}

const Json* ToolCallParser::tool_named(std::string_view wanted) const {
  const auto found = std::find_if(functions_.begin(), functions_.end(),
                                  [&](const Json& function) { return function_name(function) == wanted; });
  return found == functions_.end() ? nullptr : &*found;
}

ToolCallParser::Delta ToolCallParser::push(std::string_view text) {
  Delta out;
  if (format_ == ToolCallFormat::none) {
    out.content = text;
    return out;
  }
  pending_ += text;
  while (!pending_.empty() && step(out)) {
  }
  return out;
}

bool ToolCallParser::step(Delta& out) {
  switch (state_) {
    case State::content:
      if (format_ == ToolCallFormat::name_line) return line_of_name(out);
      return format_ == ToolCallFormat::bare_json ? bare_start() : content(out);
    case State::name:
      return tag_name(out);
    case State::between:
      return between_arguments(out);
    case State::key:
      return argument_key();
    case State::value:
      return argument_value(out);
    case State::json:
    case State::name_line:
      return json(out);
    case State::after_json:
      return after_json();
    case State::behind:
      say(std::exchange(pending_, {}), out);
      return false;
  }
  return false;
}

// --- content

// White space waits until something follows: before a call it is the format's.
void ToolCallParser::say(std::string_view text, Delta& out) {
  std::size_t end = text.size();
  while (end > 0 && is_blank(text[end - 1])) --end;
  if (end > 0) {
    // Behind a call the line end is the format's too.
    if (said_ || calls_.empty()) out.content += blanks_;
    blanks_.clear();
    std::string_view words = text.substr(0, end);
    if (!said_ && !calls_.empty()) words.remove_prefix(leading_blanks(words));
    out.content += words;
    said_ = true;
  }
  blanks_ += text.substr(end);
}

bool ToolCallParser::content(Delta& out) {
  const std::size_t open = pending_.find(kOpen);
  if (open == std::string::npos) {
    const std::size_t held = begun_marker(pending_, kOpen);
    say(std::string_view(pending_).substr(0, pending_.size() - held), out);
    pending_.erase(0, pending_.size() - held);
    return false;
  }
  say(std::string_view(pending_).substr(0, open), out);
  blanks_.clear();
  pending_.erase(0, open + kOpen.size());
  state_ = format_ == ToolCallFormat::arg_tags ? State::name : State::json;
  written_.clear();
  return true;
}

// The first line of the answer, when it may still become a tool's name.
bool ToolCallParser::line_of_name(Delta& out) {
  const std::string_view text = std::string_view(pending_).substr(leading_blanks(pending_));
  const std::size_t line_end = text.find('\n');
  const std::string_view line = without_blanks(text.substr(0, line_end));
  if (line_end == std::string_view::npos) {
    const bool may_come = std::any_of(functions_.begin(), functions_.end(),
                                      [&](const Json& function) { return function_name(function).starts_with(line); });
    if (may_come) return false;
  } else if (tool_named(line) != nullptr) {
    const std::string name(line);
    pending_ = std::string(text.substr(line_end + 1));
    state_ = State::name_line;
    written_ = name + "\n";
    begin(name, out);
    return true;
  }
  state_ = State::behind;
  return true;
}

// Llama: an answer that begins with an object.
bool ToolCallParser::bare_start() {
  std::size_t at = leading_blanks(pending_);
  const std::string_view text = std::string_view(pending_).substr(at);
  if (text.empty() || may_become(text, kPythonTag)) return false;
  if (text.starts_with(kPythonTag)) at += kPythonTag.size() + leading_blanks(text.substr(kPythonTag.size()));
  if (at == pending_.size()) return false;
  // Between two calls.
  if (!calls_.empty() && (pending_[at] == ';' || pending_[at] == ',')) {
    pending_.erase(0, at + 1);
    return true;
  }
  if (pending_[at] == '{') {
    blanks_ = pending_.substr(0, at);
    pending_.erase(0, at);
    state_ = State::json;
    written_.clear();
    return true;
  }
  state_ = State::behind;
  return true;
}

// --- calls

void ToolCallParser::begin(std::string called, Delta& out) {
  ToolCallResult& call = calls_.emplace_back();
  call.id = "call_" + std::to_string(calls_.size() - 1);
  call.name = std::move(called);
  open_ = true;
  out.events.push_back({Event::Kind::begun, calls_.size() - 1, {}});
}

void ToolCallParser::end(Delta& out) {
  ToolCallResult& call = calls_.back();
  const Json* const function = tool_named(call.name);
  if (call.status == Status::complete && function == nullptr) {
    call.status = Status::unknown_tool;
    call.problem = "The model called `" + call.name.substr(0, 80) + "`, but no tool has this name.";
  }
  if (call.status == Status::complete) {
    const Json parameters = function->value("parameters", Json::object());
    call.problem = check_arguments(call.arguments, parameters);
    if (!call.problem.empty()) call.status = Status::bad_arguments;
  }
  call.source = std::exchange(written_, {});
  open_ = false;
  said_ = false;
  blanks_.clear();
  out.events.push_back({Event::Kind::finished, calls_.size() - 1, {}});
}

void ToolCallParser::end_with(Status status, std::string problem, Delta& out) {
  if (!open_) begin("", out);
  calls_.back().status = status;
  calls_.back().problem = std::move(problem);
  end(out);
}

// --- arg_tags

bool ToolCallParser::tag_name(Delta& out) {
  const std::size_t mark = pending_.find('<');
  if (mark == std::string::npos) return false;
  // A name ends at its line, or at the first tag.
  const std::string_view rest = std::string_view(pending_).substr(mark);
  if (may_become(rest, kKey) || may_become(rest, kClose)) return false;
  begin(std::string(without_blanks(std::string_view(pending_).substr(0, mark))), out);
  written_ += pending_.substr(0, mark);
  pending_.erase(0, mark);
  state_ = State::between;
  return true;
}

bool ToolCallParser::between_arguments(Delta& out) {
  const std::size_t blanks = leading_blanks(pending_);
  const std::string_view text = std::string_view(pending_).substr(blanks);
  if (text.empty() || may_become(text, kKey) || may_become(text, kClose)) return false;
  if (text.starts_with(kKey)) {
    written_ += pending_.substr(0, blanks + kKey.size());
    pending_.erase(0, blanks + kKey.size());
    state_ = State::key;
    return true;
  }
  if (text.starts_with(kClose)) {
    pending_.erase(0, blanks + kClose.size());
    end(out);
    state_ = State::content;
    return true;
  }
  // Something else than an argument: all up to the end of the call is kept as it stands.
  const std::size_t close = pending_.find(kClose);
  if (close == std::string::npos) return false;
  written_ += pending_.substr(0, close);
  pending_.erase(0, close + kClose.size());
  end_with(Status::malformed, "The call has text where an argument should begin.", out);
  state_ = State::content;
  return true;
}

bool ToolCallParser::argument_key() {
  const std::size_t close = pending_.find(kKeyEnd);
  if (close == std::string::npos) return false;
  const std::size_t behind = close + kKeyEnd.size();
  const std::size_t blanks = leading_blanks(std::string_view(pending_).substr(behind));
  const std::string_view text = std::string_view(pending_).substr(behind + blanks);
  if (text.empty() || may_become(text, kValue)) return false;
  key_ = without_blanks(std::string_view(pending_).substr(0, close));
  const std::size_t taken = behind + (text.starts_with(kValue) ? blanks + kValue.size() : 0);
  state_ = text.starts_with(kValue) ? State::value : State::between;
  written_ += pending_.substr(0, taken);
  pending_.erase(0, taken);
  return true;
}

bool ToolCallParser::argument_value(Delta& out) {
  const std::size_t close = pending_.find(kValueEnd);
  if (close == std::string::npos) return false;
  ToolCallResult& call = calls_.back();
  const Json* const function = tool_named(call.name);
  const Json parameters = function == nullptr ? Json::object() : function->value("parameters", Json::object());
  call.arguments[key_] = typed_argument(std::string_view(pending_).substr(0, close), parameters, key_);
  written_ += pending_.substr(0, close + kValueEnd.size());
  pending_.erase(0, close + kValueEnd.size());
  out.events.push_back({Event::Kind::argument, calls_.size() - 1, key_});
  state_ = State::between;
  return true;
}

// --- JSON

// Behind the value that pending_ begins with, by its brackets and strings alone.
std::optional<std::size_t> ToolCallParser::json_end() const {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    const char byte = pending_[i];
    if (in_string) {
      if (byte == '\\') ++i;
      if (byte == '"') in_string = false;
    } else if (byte == '"') {
      in_string = true;
    } else if (byte == '{' || byte == '[') {
      ++depth;
    } else if ((byte == '}' || byte == ']') && depth > 0 && --depth == 0) {
      return i + 1;
    }
  }
  return std::nullopt;
}

bool ToolCallParser::json(Delta& out) {
  const bool is_tagged = format_ == ToolCallFormat::tagged_json;
  const std::size_t blanks = leading_blanks(pending_);
  if (blanks == pending_.size()) return false;
  const char first = pending_[blanks];
  if (first != '{' && !(first == '[' && is_tagged)) {
    if (format_ == ToolCallFormat::name_line) return false;  // finish() says what is wrong
    const std::size_t close = pending_.find(kClose);
    if (close == std::string::npos) return false;
    written_ = pending_.substr(0, close);
    pending_.erase(0, close + kClose.size());
    end_with(Status::malformed, "The call is no JSON object with name and arguments.", out);
    state_ = State::content;
    return true;
  }
  const std::optional<std::size_t> end_of_value = json_end();
  if (!end_of_value) {
    if (format_ != ToolCallFormat::bare_json || may_be_call(pending_)) return false;
    state_ = State::behind;
    return true;
  }
  const std::string text = pending_.substr(0, *end_of_value);
  if (format_ == ToolCallFormat::bare_json && !looks_like_call(text)) {
    state_ = State::behind;
    return true;
  }
  pending_.erase(0, *end_of_value);
  state_ = is_tagged ? State::after_json : format_ == ToolCallFormat::name_line ? State::behind : State::content;
  take_json(without_blanks(text), out);
  return true;
}

bool ToolCallParser::after_json() {
  const std::size_t blanks = leading_blanks(pending_);
  const std::string_view text = std::string_view(pending_).substr(blanks);
  if (text.empty() || may_become(text, kClose)) return false;
  state_ = State::content;
  if (text.starts_with(kClose)) pending_.erase(0, blanks + kClose.size());
  return true;
}

void ToolCallParser::take_json(std::string_view text, Delta& out) {
  const Json parsed = Json::parse(text, nullptr, false);
  bool too_deep = false;
  try {
    check_nesting(parsed, "The call");
  } catch (const Error&) {
    too_deep = true;
  }
  if (parsed.is_discarded() || too_deep) {
    written_ += text;
    return end_with(Status::malformed, too_deep ? "The call's JSON is nested too deep." : "The call is not valid JSON.",
                    out);
  }
  if (format_ == ToolCallFormat::name_line) {
    written_ += text;
    calls_.back().arguments = parsed;
    return end(out);
  }
  if (!parsed.is_array()) return take_call(parsed, text, out);
  for (const Json& call : parsed) take_call(call, jinja::dump(call), out);
}

void ToolCallParser::take_call(const Json& call, std::string_view text, Delta& out) {
  written_ = text;
  const auto called = call.is_object() ? call.find("name") : call.end();
  if (!call.is_object() || called == call.end() || !called->is_string()) {
    return end_with(Status::malformed, "The call has no name.", out);
  }
  begin(called->get<std::string>(), out);
  const auto arguments = call.contains("arguments") ? call.find("arguments") : call.find("parameters");
  if (arguments == call.end() || arguments->is_null()) return end(out);
  Json value = *arguments;
  if (value.is_string()) value = Json::parse(value.get<std::string>(), nullptr, false);  // JSON in a string
  if (!value.is_object()) {
    return end_with(Status::bad_arguments, "The arguments of the call are no JSON object.", out);
  }
  calls_.back().arguments = std::move(value);
  end(out);
}

// --- the end of the answer

void ToolCallParser::cut_off(Delta& out) {
  written_ += std::exchange(pending_, {});
  std::string called = open_ ? calls_.back().name : "";
  if (!open_ && format_ == ToolCallFormat::arg_tags) {
    called = without_blanks(written_);
    begin(called, out);
  }
  end_with(Status::cut_off,
           called.empty() ? "The answer ended in the middle of a tool call."
                          : "The answer ended in the middle of the call of `" + called.substr(0, 80) + "`.",
           out);
}

ToolCallParser::Delta ToolCallParser::finish() {
  Delta out;
  switch (state_) {
    case State::content:
    case State::behind:
    case State::after_json:
      if (!pending_.empty() && without_blanks(pending_).empty() && !calls_.empty()) pending_.clear();
      say(std::exchange(pending_, {}), out);
      if (calls_.empty() || said_) out.content += blanks_;
      blanks_.clear();
      break;
    case State::json:
      // Behind one call there is nothing but another.
      if (format_ == ToolCallFormat::bare_json &&
          !(calls_.empty() ? looks_like_call(pending_) : may_be_call(pending_))) {
        say(std::exchange(pending_, {}), out);
        break;
      }
      cut_off(out);
      break;
    case State::name_line:
      if (without_blanks(pending_).starts_with('{') || without_blanks(pending_).empty()) {
        cut_off(out);
      } else {
        written_ += std::exchange(pending_, {});
        end_with(Status::malformed, "The call of `" + calls_.back().name + "` is not followed by a JSON object.", out);
      }
      break;
    default:
      cut_off(out);
  }
  state_ = State::behind;
  return out;
}

}  // namespace glmhost::chat
