#include "host/daemon/output_form.h"

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

}  // namespace

Spec spec_of(const protocol::OutputForm& form) {
  Spec spec;
  spec.kind = kind_of(form.kind);
  spec.text = form.text;
  spec.choices = form.choices;
  spec.white_space = Spec::WhiteSpace::usual;
  spec.order = Spec::PropertyOrder::declared;
  return spec;
}

void check_form(const protocol::OutputForm& form) {
  compiled([&] { return constraints::compile_grammar(spec_of(form)); });
}

generation::OutputForm demanded_form(const protocol::Request& request, constraints::ConstraintCache& cache,
                                     std::optional<chat::ReasoningSplitter>& splitter) {
  generation::OutputForm form;
  form.constraint = compiled([&] { return cache.get(spec_of(*request.form)); });
  if (splitter && splitter->in_reasoning()) {
    form.reasoning = Reasoning::begun;
  } else if (splitter && splitter->may_reason() && request.enable_thinking.value_or(true)) {
    form.reasoning = Reasoning::may_come;
  }
  if (form.reasoning == Reasoning::none) {
    splitter.reset();
  } else {
    splitter->keep_newlines_of_content();
  }
  return form;
}

}  // namespace glmhost::daemon
