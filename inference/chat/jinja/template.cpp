#include "inference/chat/jinja/template.h"

#include "inference/chat/jinja/interpreter.h"
#include "inference/chat/jinja/parser.h"

namespace glmhost::jinja {
namespace {

// Without control characters, which a template may bring into what it fails with.
std::string sentence_end(std::string message) {
  for (char& byte : message) {
    if (static_cast<unsigned char>(byte) < 0x20) byte = ' ';
  }
  return message.ends_with('.') ? message : message + ".";
}

[[noreturn]] void report(const Fault& fault, int line) {
  const std::string where = "line " + std::to_string(line);
  switch (fault.failure) {
    case Failure::raised:
      throw TemplateError(Failure::raised, line, 0, fault.message);
    case Failure::limit:
      throw TemplateError(Failure::limit, line, 0,
                          "The chat template was stopped in " + where + ": " + sentence_end(fault.message));
    default:
      throw TemplateError(fault.failure, line, 0,
                          "The chat template fails in " + where + ": " + sentence_end(fault.message));
  }
}

}  // namespace

struct Template::State {
  Parsed parsed;
};

Template::Template(std::string_view source) : state_(std::make_unique<const State>(State{parse(source)})) {}
Template::~Template() = default;
Template::Template(Template&&) noexcept = default;
Template& Template::operator=(Template&&) noexcept = default;

bool Template::reads(std::string_view variable) const {
  return state_->parsed.names.contains(std::string(variable));
}

Text Template::render(const std::function<Variables(Runtime&)>& make, std::optional<LocalTime> now,
                      const Limits& limits) const {
  Runtime runtime(Limits{.steps = ~0ull, .made_bytes = ~0ull, .depth = limits.depth}, now);
  const auto variables = std::make_shared<Scope>();
  for (auto& [name, function] : global_functions()) variables->values.emplace(name, std::move(function));
  Interpreter interpreter(runtime, variables);
  try {
    for (auto& [name, value] : make(runtime)) variables->values.insert_or_assign(name, std::move(value));
    runtime.budget.begin(limits);
    return interpreter.run(state_->parsed.statements);
  } catch (const Fault& fault) {
    report(fault, interpreter.line());
  }
}

}  // namespace glmhost::jinja
