#include "inference/generation/request_check.h"

#include <string>

#include "inference/error.h"

namespace glmhost::generation {

namespace {

constexpr std::size_t kMaxStops = 16;

}  // namespace

void check_request(const GenerationRequest& request, const architectures::Hyperparameters& model,
                   std::int64_t context) {
  request.sampling.validate();
  if (request.prompt.empty()) {
    throw Error(ErrorKind::bad_argument, "The prompt is empty: it must have at least one token.");
  }
  for (const std::int32_t token : request.prompt) {
    if (token < 0 || token >= model.vocabulary) {
      throw Error(ErrorKind::bad_argument, "The prompt has the token " + std::to_string(token) +
                                               ", which is outside of the model's vocabulary (0 to " +
                                               std::to_string(model.vocabulary - 1) + ").");
    }
  }
  if (request.max_tokens < 1) {
    throw Error(ErrorKind::bad_argument,
                "The value of max_tokens is " + std::to_string(request.max_tokens) + ", but it must be at least 1.");
  }
  if (request.stop.size() > kMaxStops) {
    throw Error(ErrorKind::bad_argument, "There are " + std::to_string(request.stop.size()) +
                                             " stop strings; at most " + std::to_string(kMaxStops) + " are allowed.");
  }
  for (const std::string& stop : request.stop) {
    if (stop.empty()) throw Error(ErrorKind::bad_argument, "A stop string is empty: it would stop every answer.");
    tokenizer::Utf8Stream characters;
    if (characters.push(stop) + characters.finish() != stop) {
      throw Error(ErrorKind::bad_argument, "A stop string is not valid UTF-8: it could never be found in an answer.");
    }
  }
  if (request.form.constraint != nullptr && !request.form.opening && !request.stop.empty()) {
    throw Error(ErrorKind::bad_argument,
                "Stop strings and a demanded form of the answer cannot be combined: the form says where the answer "
                "ends, and a stop string could end it in the middle.");
  }
  const auto length = static_cast<std::int64_t>(request.prompt.size());
  if (length >= context) {
    const bool by_cache = context < model.context_length;
    throw Error(ErrorKind::context_exceeded,
                "The prompt has " + std::to_string(length) + " tokens, " + std::to_string(length - context + 1) +
                    " too many: " + (by_cache ? "the cache" : "the model's context") + " holds " +
                    std::to_string(context) + " tokens, and the answer needs at least one of them. Shorten the prompt" +
                    (by_cache ? " or give the cache more memory (kv_bytes)." : "."));
  }
}

}  // namespace glmhost::generation
