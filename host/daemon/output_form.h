// The form that a request demands of its answer, in the engine's terms.
#pragma once

#include <optional>

#include "host/protocol/messages.h"
#include "inference/chat/template.h"
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

}  // namespace glmhost::daemon
