// The form that a request demands of its answer, in the engine's terms.
#pragma once

#include <optional>

#include "host/protocol/messages.h"
#include "inference/chat/model_template.h"
#include "inference/constraints/constraint_cache.h"
#include "inference/generation/output_form.h"

namespace glmhost::daemon {

// JSON is demanded as most programs print it in one line, with an object's properties in the order of the schema: the
// model then need not choose white space and order, and much of the text can be written without asking it.
constraints::Spec spec_of(const protocol::OutputForm& form);

// Throws Error(bad_argument): a form that is wrong, that nothing satisfies, or that needs what is not supported. For a
// request whose model is not in memory yet: it is refused before a model is loaded for it.
void check_form(const protocol::OutputForm& form);

// The form of request.form, compiled for the model of the cache. Throws as check_form(). A model that may think by
// itself does so before the form, unless the request switched thinking off. The splitter (none: the answer is not
// split) is set to leave what has the form as it is.
generation::OutputForm demanded_form(const protocol::Request& request, constraints::ConstraintCache& cache,
                                     std::optional<chat::ReasoningSplitter>& splitter);

// The tools that the model is told of: none where none may be called.
bool tells_tools(const protocol::Request& request);

// As form_of_calls(), which needs a model in memory: what it would throw of the tools is thrown before one is loaded.
void check_calls(const protocol::Request& request, chat::ToolCallFormat format);

// The form of the calls of request.tools, in the way of the model's template; no constraint where the template's way of
// calling is not known and nothing is demanded. Throws Error(bad_argument): as check_form() for the tools' schemas, a
// tool that is chosen but is not there, a call demanded of a model whose way of calling is not known.
generation::OutputForm form_of_calls(const protocol::Request& request, chat::ToolCallFormat format,
                                     constraints::ConstraintCache& cache,
                                     std::optional<chat::ReasoningSplitter>& splitter);

}  // namespace glmhost::daemon
