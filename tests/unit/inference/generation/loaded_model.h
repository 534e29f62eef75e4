// A small model with its tokenizer, and answers collected from a scheduler's events.
#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "inference/architectures/model.h"
#include "inference/generation/scheduler.h"

namespace glmhost::generation {

struct LoadedModel {
  model_files::GgufFile file;
  tokenizer::Tokenizer tokenizer;
  std::unique_ptr<architectures::Model> model;

  explicit LoadedModel(model_files::GgufFile opened) : file(std::move(opened)), tokenizer(file) {
    kernels::ThreadPool pool(1);
    model = architectures::Model::load(file, {}, pool);
  }
};

inline std::filesystem::path small_model_path(const std::string& name) {
  return std::filesystem::path(GLMHOST_TEST_DATA) / "models" / (name + ".gguf");
}

inline LoadedModel load_small(const std::string& name = "llama-a") {
  return LoadedModel(model_files::GgufFile::open(small_model_path(name)));
}

// The file's bytes with every value of one tensor's row replaced.
inline model_files::GgufFile with_row(const std::string& name, const std::string& tensor, std::int64_t row,
                                      float value) {
  std::ifstream stream(small_model_path(name), std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  const model_files::GgufFile file = model_files::GgufFile::from_bytes(bytes, name);
  const model_files::TensorInfo* info = file.find_tensor(tensor);
  REQUIRE(info != nullptr);
  for (std::int64_t i = 0; i < info->columns(); ++i) {
    const auto at =
        static_cast<std::size_t>(info->offset) + static_cast<std::size_t>(row * info->columns() + i) * sizeof(float);
    std::memcpy(bytes.data() + at, &value, sizeof value);
  }
  return model_files::GgufFile::from_bytes(std::move(bytes), name);
}

struct Answer {
  std::string text;
  std::vector<std::int32_t> tokens;
  std::vector<Choice> choices;
  std::optional<FinishReason> finished;
  std::string failure;
  int events = 0;
};

class Answers {
 public:
  void take(const std::vector<SequenceEvent>& events) {
    for (const SequenceEvent& event : events) {
      Answer& answer = answers_[event.sequence];
      CHECK_FALSE(answer.finished.has_value());  // nothing comes after the last event
      answer.text += event.text;
      answer.tokens.insert(answer.tokens.end(), event.tokens.begin(), event.tokens.end());
      answer.choices.insert(answer.choices.end(), event.choices.begin(), event.choices.end());
      answer.finished = event.finished;
      answer.failure = event.failure;
      ++answer.events;
    }
  }
  const Answer& of(SequenceId id) { return answers_[id]; }

 private:
  std::map<SequenceId, Answer> answers_;
};

inline void run_until_idle(Scheduler& scheduler, Answers& answers) {
  for (int steps = 0; !scheduler.idle(); ++steps) {
    REQUIRE(steps < 100000);
    answers.take(scheduler.step());
  }
}

inline Answer run_alone(const LoadedModel& loaded, const GenerationRequest& request,
                        const SchedulerOptions& options = {}, int threads = 1) {
  kernels::ThreadPool pool(threads);
  Scheduler scheduler(*loaded.model, loaded.tokenizer, pool, options);
  Answers answers;
  const std::optional<SequenceId> id = scheduler.add(request);
  REQUIRE(id.has_value());
  run_until_idle(scheduler, answers);
  CHECK(scheduler.kv_bytes_used() == 0);
  return answers.of(*id);
}

// A request for the small models (512 tokens, the last 32 of them markers) that depends on the seed alone.
inline GenerationRequest random_request(std::uint32_t seed, std::size_t prompt, std::int32_t max_tokens) {
  GenerationRequest request;
  for (std::size_t i = 0; i < prompt; ++i) {
    request.prompt.push_back(static_cast<std::int32_t>((seed * 7919u + i * i * 31u + i * 17u) % 480u));
  }
  request.max_tokens = max_tokens;
  request.sampling.seed = seed;
  request.sampling.temperature = seed % 3 == 0 ? 0.0f : 1.0f;
  if (seed % 4 == 1) request.sampling.top_p = 0.9f;
  if (seed % 5 == 1) request.sampling.repetition_penalty = 1.3f;
  return request;
}

}  // namespace glmhost::generation
