// Answers of demanded forms, many at a time, for tests/bench/forms.py.
//
//   form_generator MODEL.gguf [--threads N] [--no-jump-ahead] [--alone] [--cost] < requests.jsonl > results.jsonl
//
// A request is {"id", "prompt", "form": {"kind", "text" | "choices"}, "max_tokens", "temperature", "seed"}; without
// "form" the answer is free. A result is {"id", "content", "finish_reason", "tokens", "ms"}: ms from the request to its
// last token, which says something with --alone (one at a time).
//
// --cost: each result also has "step_us", the microseconds of each decode step, and for each token "mask_us", what its
// mask and accepting it take, and "sample_us", what choosing among what the mask leaves takes more than choosing freely
// (less than nothing where little is left to draw from). The first answers of a form pay for its masks.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "host/daemon/output_form.h"
#include "inference/architectures/model.h"
#include "inference/constraints/constraint_cache.h"
#include "inference/generation/scheduler.h"
#include "inference/model_files/gguf_file.h"

namespace {

using namespace glmhost;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

struct Arguments {
  std::string model;
  int threads = 2;
  bool jump_ahead = true;
  bool alone = false;
  bool cost = false;
};

struct Open {
  json request;
  std::string content;
  std::vector<std::int32_t> tokens;
  std::vector<double> step_us;
  generation::GenerationRequest generation;
  Clock::time_point start;
};

std::string_view reason_name(generation::FinishReason reason) {
  using generation::FinishReason;
  switch (reason) {
    case FinishReason::stop:
      return "stop";
    case FinishReason::length:
      return "length";
    case FinishReason::context:
      return "context";
    case FinishReason::cancelled:
      return "cancelled";
    case FinishReason::failed:
      return "failed";
  }
  return "";
}

protocol::OutputForm form_of(const json& form) {
  protocol::OutputForm out;
  const auto kind = protocol::find_form_kind(form.at("kind").get<std::string>());
  if (!kind) throw std::runtime_error("There is no form of the kind " + form.at("kind").dump() + ".");
  out.kind = *kind;
  out.text = form.value("text", "");
  out.choices = form.value("choices", std::vector<std::string>());
  return out;
}

class Generator {
 public:
  explicit Generator(const Arguments& arguments)
      : arguments_(arguments),
        file_(model_files::GgufFile::open(arguments.model)),
        tokenizer_(file_),
        pool_(arguments.threads),
        model_(architectures::Model::load(file_, {}, pool_)),
        cache_(tokenizer_),
        scheduler_(*model_, tokenizer_, pool_, options()) {}

  void run() {
    std::string line;
    while (std::getline(std::cin, line)) {
      add(json::parse(line));
      while (arguments_.alone && !scheduler_.idle()) step();
    }
    while (!scheduler_.idle()) step();
  }

 private:
  generation::SchedulerOptions options() const {
    generation::SchedulerOptions options;
    options.jump_ahead = arguments_.jump_ahead;
    return options;
  }

  void add(const json& request) {
    Open open;
    open.request = request;
    generation::GenerationRequest& generation = open.generation;
    generation.prompt = tokenizer_.encode(request.at("prompt").get<std::string>(), tokenizer::Markers::all);
    generation.max_tokens = request.value("max_tokens", 500);
    generation.sampling.temperature = request.value("temperature", 1.0f);
    generation.sampling.seed = request.value("seed", std::uint64_t{0});
    if (request.contains("form")) {
      generation.form.constraint = cache_.get(daemon::spec_of(form_of(request["form"])));
    }
    open.start = Clock::now();
    std::optional<generation::SequenceId> id;
    while (!(id = scheduler_.add(generation))) step();
    open_.emplace(*id, std::move(open));
  }

  void step() {
    const auto start = Clock::now();
    const std::vector<generation::SequenceEvent> events = scheduler_.step();
    const double us = microseconds_since(start);
    for (const generation::SequenceEvent& event : events) {
      Open& open = open_.at(event.sequence);
      // The first event brings the prompt's time with it.
      if (!open.tokens.empty()) open.step_us.push_back(us);
      open.content += event.text;
      open.tokens.insert(open.tokens.end(), event.tokens.begin(), event.tokens.end());
      if (!event.finished) continue;
      tell(open, *event.finished, event.failure);
      open_.erase(event.sequence);
    }
  }

  void tell(const Open& open, generation::FinishReason reason, const std::string& failure) {
    json result = {{"id", open.request.at("id")},
                   {"content", open.content},
                   {"finish_reason", reason_name(reason)},
                   {"tokens", open.tokens.size()},
                   {"ms", microseconds_since(open.start) / 1000}};
    if (!failure.empty()) result["failure"] = failure;
    if (arguments_.cost) {
      result["step_us"] = open.step_us;
      if (open.generation.form.constraint) add_cost(open, result);
    }
    const std::string line = result.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
    std::fwrite(line.data(), 1, line.size(), stdout);
  }

  // The form of the answer is followed a second time, by a state that has seen nothing yet.
  void add_cost(const Open& open, json& result) {
    const auto vocabulary = tokenizer_.vocabulary_size();
    std::vector<float> row(static_cast<std::size_t>(vocabulary));
    std::mt19937 random(1);
    std::normal_distribution<float> normal(0, 3);
    for (float& logit : row) logit = normal(random);
    const json& form = open.request["form"];
    const std::string key = form.dump();
    auto& constraint = measured_[key];
    if (!constraint) {
      if (!vocabulary_) vocabulary_ = std::make_shared<const constraints::TokenTrie>(tokenizer_);
      constraint = constraints::compile(daemon::spec_of(form_of(form)), vocabulary_);
    }
    generation::FormFollower follower({constraint, generation::OutputForm::Reasoning::none}, tokenizer_);
    const auto& sampling = open.generation.sampling;
    for (const std::int32_t token : open.tokens) {
      auto start = Clock::now();
      const auto mask = follower.mask();
      double us = microseconds_since(start);
      start = Clock::now();
      checksum_ += generation::sample(row, vocabulary, sampling, open.tokens, 0, mask).token;
      const double among_allowed = microseconds_since(start);
      start = Clock::now();
      checksum_ += generation::sample(row, vocabulary, sampling, open.tokens, 0).token;
      result["sample_us"].push_back(among_allowed - microseconds_since(start));
      start = Clock::now();
      follower.accept(token);
      us += microseconds_since(start);
      result["mask_us"].push_back(us);
    }
  }

  Arguments arguments_;
  model_files::GgufFile file_;
  tokenizer::Tokenizer tokenizer_;
  kernels::ThreadPool pool_;
  std::unique_ptr<architectures::Model> model_;
  constraints::ConstraintCache cache_;
  generation::Scheduler scheduler_;
  std::map<generation::SequenceId, Open> open_;
  std::shared_ptr<const constraints::TokenTrie> vocabulary_;
  std::map<std::string, std::shared_ptr<const constraints::Constraint>> measured_;
  std::int64_t checksum_ = 0;
};

Arguments read_arguments(int count, char** values) {
  Arguments arguments;
  for (int i = 1; i < count; ++i) {
    const std::string_view value = values[i];
    if (value == "--threads" && i + 1 < count) {
      arguments.threads = std::max(1, std::atoi(values[++i]));
    } else if (value == "--no-jump-ahead") {
      arguments.jump_ahead = false;
    } else if (value == "--alone") {
      arguments.alone = true;
    } else if (value == "--cost") {
      arguments.cost = true;
    } else {
      arguments.model = value;
    }
  }
  return arguments;
}

}  // namespace

int main(int count, char** values) {
  try {
    const Arguments arguments = read_arguments(count, values);
    Generator(arguments).run();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "form_generator: %s\n", error.what());
    return 1;
  }
}
