// Bringing a model into the store: from a local file, an https address, or a name in the catalogue.
//
// A file gets its name in the store only when it is complete, has the right SHA-256 where one is known, has passed the
// caller's check, and is on the disk. Until then it lies in <store>/.incoming, where a later pull of the same model
// goes on. Two pulls of one model do not disturb each other: the second is refused.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>

#include "host/model_store/model_store.h"
#include "host/model_store/pull_progress.h"

namespace glmhost::model_store {

struct PullRequest {
  std::string source;    // a path, an https address, or a name such as "glm-4-9b-0414:q4_k_m"
  std::string name;      // in the store; empty: the catalogue's, or made from the file's name
  std::string sha256;    // of the file; empty: only what the catalogue or the server states
  bool replace = false;  // a model of this name that is there already
  bool force = false;    // also what this version cannot run, by the catalogue's word
  // Looks at the complete file (the first shard, with all others beside it) and throws what is wrong with it.
  std::function<void(const std::filesystem::path&)> check;
  // Looks at a local file before it is copied, and throws why it should not be.
  std::function<void(const std::filesystem::path&)> check_source;
};

// The catalogue says that this version cannot run the model; what() says how to fetch it all the same.
class CannotRun : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct PullResult {
  StoredModel model;
  bool was_there = false;  // nothing had to be done
};

// Throws, each with a sentence: std::invalid_argument (the request), NoSuchModel, CannotRun,
// PullCancelled, std::runtime_error.
PullResult pull(const ModelStore& store, const PullRequest& request, const PullMonitor& monitor);

// "SmolLM2-135M-Instruct.Q4_1" -> "smollm2-135m-instruct:q4_1". Empty when nothing of a name is left (a name in another
// script): the person has to give one. Exposed for tests.
std::string name_for_file(std::string_view stem);

}  // namespace glmhost::model_store
