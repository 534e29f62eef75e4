#include "host/daemon/output_form.h"

#include "inference/chat/call_form.h"
#include "inference/chat/conversation.h"
#include "inference/error.h"

namespace glmhost::daemon {
namespace {

using constraints::Spec;
using Reasoning = generation::OutputForm::Reasoning;

// Whatever goes wrong in compiling is the request's fault, also a keyword that is not supported.
template <class Compile>
auto compiled(const Compile& compile) {
  try {
    return compile();
  } catch (const Error& error) {
    throw Error(ErrorKind::bad_argument, error.what());
  }
}

Spec::Kind kind_of(protocol::OutputForm::Kind kind) {
  switch (kind) {
    case protocol::OutputForm::Kind::json_schema:
      return Spec::Kind::json_schema;
    case protocol::OutputForm::Kind::regex:
      return Spec::Kind::regex;
    case protocol::OutputForm::Kind::grammar:
      return Spec::Kind::grammar;
    case protocol::OutputForm::Kind::choice:
      return Spec::Kind::choice;
    case protocol::OutputForm::Kind::type:
      return Spec::Kind::type;
  }
  return Spec::Kind::json_schema;
}

chat::ToolChoice::Kind kind_of(protocol::ToolChoice::Kind kind) {
  switch (kind) {
    case protocol::ToolChoice::Kind::none:
      return chat::ToolChoice::Kind::none;
    case protocol::ToolChoice::Kind::automatic:
      return chat::ToolChoice::Kind::automatic;
    case protocol::ToolChoice::Kind::required:
      return chat::ToolChoice::Kind::required;
    case protocol::ToolChoice::Kind::named:
      return chat::ToolChoice::Kind::named;
  }
  return chat::ToolChoice::Kind::automatic;
}

Spec json_in_one_line() {
  Spec spec;
  spec.white_space = Spec::WhiteSpace::usual;
  spec.order = Spec::PropertyOrder::declared;
  return spec;
}

Reasoning reasoning_before(const protocol::Request& request, const std::optional<chat::ReasoningSplitter>& splitter) {
  if (splitter && splitter->in_reasoning()) return Reasoning::begun;
  const bool may_come = splitter && splitter->may_reason() && request.enable_thinking.value_or(true);
  return may_come ? Reasoning::may_come : Reasoning::none;
}

// What has the form is given as it is.
void leave_content_alone(Reasoning reasoning, std::optional<chat::ReasoningSplitter>& splitter) {
  if (reasoning == Reasoning::none) {
    splitter.reset();
  } else {
    splitter->keep_newlines_of_content();
  }
}

Spec spec_of(const chat::CallForm& calls) {
  Spec spec = json_in_one_line();
  spec.kind = Spec::Kind::grammar;
  spec.text = calls.grammar;
  return spec;
}

// Nothing where the model's way of calling is not known and nothing is demanded.
std::optional<chat::CallForm> form_in(const protocol::Request& request, chat::ToolCallFormat format) {
  std::optional<chat::CallForm> calls = compiled([&] {
    return chat::call_form(format, request.tools, {kind_of(request.tool_choice.kind), request.tool_choice.name});
  });
  if (!calls && request.tool_choice.kind != protocol::ToolChoice::Kind::automatic) {
    throw Error(ErrorKind::bad_argument,
                "A call of a tool is demanded, but how this model writes calls is not known here: leave tool_choice "
                "out, or take another model.");
  }
  return calls;
}

// Says which tool's schema is wrong.
template <class Compile>
auto compiled_calls(const protocol::Request& request, const Compile& compile) {
  try {
    return compile();
  } catch (const Error& error) {
    for (const chat::Json& tool : request.tools) {
      const chat::Json& function = chat::function_of(tool);
      if (!function.contains("parameters") || !function["parameters"].is_object()) continue;
      Spec spec = json_in_one_line();
      spec.text = function["parameters"].dump();
      try {
        constraints::compile_grammar(spec);
      } catch (const Error& of_tool) {
        throw Error(ErrorKind::bad_argument, "The parameters of the tool `" +
                                                 std::string(chat::function_name(function).substr(0, 80)) +
                                                 "` cannot be used. " + of_tool.what());
      }
    }
    throw Error(ErrorKind::bad_argument,
                std::string("The calls of the tools cannot be held to a form. ") + error.what());
  }
}

}  // namespace

Spec spec_of(const protocol::OutputForm& form) {
  Spec spec = json_in_one_line();
  spec.kind = kind_of(form.kind);
  spec.text = form.text;
  spec.choices = form.choices;
  return spec;
}

void check_form(const protocol::OutputForm& form) {
  compiled([&] { return constraints::compile_grammar(spec_of(form)); });
}

generation::OutputForm demanded_form(const protocol::Request& request, constraints::ConstraintCache& cache,
                                     std::optional<chat::ReasoningSplitter>& splitter) {
  generation::OutputForm form;
  form.constraint = compiled([&] { return cache.get(spec_of(*request.form)); });
  form.reasoning = reasoning_before(request, splitter);
  leave_content_alone(form.reasoning, splitter);
  return form;
}

bool tells_tools(const protocol::Request& request) {
  return !request.tools.empty() && request.tool_choice.kind != protocol::ToolChoice::Kind::none;
}

void check_calls(const protocol::Request& request, chat::ToolCallFormat format) {
  if (const std::optional<chat::CallForm> calls = form_in(request, format)) {
    compiled_calls(request, [&] { return constraints::compile_grammar(spec_of(*calls)); });
  }
}

generation::OutputForm form_of_calls(const protocol::Request& request, chat::ToolCallFormat format,
                                     constraints::ConstraintCache& cache,
                                     std::optional<chat::ReasoningSplitter>& splitter) {
  generation::OutputForm form;
  const std::optional<chat::CallForm> calls = form_in(request, format);
  if (!calls) return form;
  form.constraint = compiled_calls(request, [&] { return cache.get(spec_of(*calls)); });
  form.has_markers = true;
  form.anywhere = calls->anywhere;
  if (calls->opening) {
    form.opening = [find = calls->opening](std::string_view written) {
      std::optional<generation::OutputForm::Opened> opened;
      if (auto found = find(written)) opened = {found->end, std::move(found->form)};
      return opened;
    };
  }
  form.reasoning = reasoning_before(request, splitter);
  if (!calls->opening) leave_content_alone(form.reasoning, splitter);
  return form;
}

}  // namespace glmhost::daemon
