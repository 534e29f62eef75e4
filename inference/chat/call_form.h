// The form of an answer that calls tools: a grammar for the calls of some tools, with arguments that satisfy the tools'
// schemas, and where in an answer it begins.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "inference/chat/tool_calls.h"

namespace glmhost::chat {

struct ToolChoice {
  enum class Kind {
    none,       // no tool is called
    automatic,  // the model decides
    required,   // the answer is one to sixteen calls
    named,      // the answer is one call of the tool `name`
  };
  Kind kind = Kind::automatic;
  std::string name;
};

struct CallOpening {
  std::size_t end;   // in the text that was looked at, behind the opening
  std::string form;  // the same in the grammar's spelling
};

struct CallForm {
  std::string grammar;  // GBNF with %json and %raw; see inference/constraints/gbnf.h

  // automatic: the answer is free until this finds the beginning of a call in what was written so far. Empty for the
  // other kinds, where the grammar holds from the beginning.
  std::function<std::optional<CallOpening>(std::string_view)> opening;
  bool anywhere = false;  // the opening may stand anywhere, and behind a call the answer is free again
};

// Arguments come in the order of the schema. With arg_tags those that it lists come, and others only where it lists
// none. Nothing for a format or a choice that calls no tools. Throws Error(bad_argument): a tool that cannot be called
// in this format, two tools of one name, a choice of a tool that is not there; Error(unsupported): a keyword of a
// schema, by name, that arg_tags cannot express. What is wrong inside the schemas the grammar's compiler says.
std::optional<CallForm> call_form(ToolCallFormat format, const Json& tools, const ToolChoice& choice);

}  // namespace glmhost::chat
