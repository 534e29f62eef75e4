// Tool calls in a streamed answer.
//
// Each generation writes a call its own way; a ToolCallParser takes them out of the content of one answer, as it comes,
// and gives the arguments the types of the tool's schema. What is wrong with a call is said, and what the model wrote
// is kept with it: nothing is repaired in silence and nothing is lost.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inference/chat/template.h"

namespace glmhost::chat {

enum class ToolCallFormat {
  none,         // the model calls no tools
  arg_tags,     // GLM-4.5 and later: <tool_call>name<arg_key>k</arg_key><arg_value>v</arg_value></tool_call>
  name_line,    // GLM-4-9B-Chat, GLM-4-0414, GLM-Z1: the whole answer is a tool's name, a line end and JSON
  tagged_json,  // Qwen, SmolLM2, Hermes: <tool_call>{"name": ..., "arguments": {...}}</tool_call>, or a list of these
  bare_json,    // Llama 3.1 and later: the answer is {"name": ..., "parameters": {...}}, or several with ; between
};

// By the family where it is known to call tools, else by the text of the template.
ToolCallFormat tool_call_format(std::optional<Family> family, std::string_view template_source);

struct ToolCallResult {
  enum class Status {
    complete,
    cut_off,        // the answer ended in the middle of it; the arguments are those that were whole
    unknown_tool,   // no tool has this name
    bad_arguments,  // they do not fit the tool's schema, or are no object
    malformed,      // not written as the format wants it
  };
  std::string id;  // "call_0", "call_1", ...: in the order of the answer
  std::string name;
  Json arguments = Json::object();
  Status status = Status::complete;
  std::string problem;  // a sentence; empty when complete
  std::string source;   // as the model wrote it, without the tags around
};
std::string_view name(ToolCallResult::Status status);  // "complete", "cut_off", ...

class ToolCallParser {
 public:
  // tools: as in a request; without any all of the answer is content.
  ToolCallParser(ToolCallFormat format, const Json& tools);

  struct Event {
    enum class Kind {
      begun,     // its name is known
      argument,  // one more argument is whole (arg_tags; the other formats give all of them with `finished`)
      finished,  // nothing more comes of it
    };
    Kind kind;
    std::size_t call;  // in calls()
    std::string key;   // of the argument
  };
  struct Delta {
    std::string content;
    std::vector<Event> events;
  };
  // content: what a ReasoningSplitter gave as content. The calls and the content put together do not depend on how the
  // answer was cut. White space around calls is the format's and is left out.
  Delta push(std::string_view content);
  Delta finish();  // the answer is at its end

  const std::vector<ToolCallResult>& calls() const { return calls_; }

 private:
  enum class State { content, name, between, key, value, json, after_json, name_line, behind };

  bool step(Delta& out);  // takes one piece of pending_; false when more is needed
  bool content(Delta& out);
  bool line_of_name(Delta& out);
  bool bare_start();
  bool tag_name(Delta& out);
  bool between_arguments(Delta& out);
  bool argument_key();
  bool argument_value(Delta& out);
  bool json(Delta& out);
  bool after_json();
  std::optional<std::size_t> json_end() const;

  void say(std::string_view text, Delta& out);
  void begin(std::string name, Delta& out);
  void end(Delta& out);
  void end_with(ToolCallResult::Status status, std::string problem, Delta& out);
  void take_json(std::string_view text, Delta& out);
  void take_call(const Json& call, std::string_view text, Delta& out);
  void cut_off(Delta& out);
  const Json* tool_named(std::string_view name) const;  // its function

  ToolCallFormat format_;
  std::vector<Json> functions_;
  std::vector<ToolCallResult> calls_;
  State state_ = State::content;
  std::string pending_;  // not yet understood
  std::string blanks_;   // white space that belongs to the content if content follows
  std::string key_;      // of the argument at hand
  std::string written_;  // of the call at hand
  bool said_ = false;    // some content came already
  bool open_ = false;    // calls_.back() is not finished
};

}  // namespace glmhost::chat
