// From tokens to statements, by Jinja's grammar.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "inference/chat/jinja/syntax.h"

namespace glmhost::jinja {

struct Parsed {
  Block statements;
  std::set<std::string> names;  // all that the template reads: "messages", "tools", ...
};

// Throws TemplateError(syntax), with line and column, also for what is Jinja but not known here: unknown tags, filters
// and tests, include, import and inheritance.
Parsed parse(std::string_view source);

}  // namespace glmhost::jinja
