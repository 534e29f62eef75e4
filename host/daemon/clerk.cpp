#include "host/daemon/clerk.h"

#include <new>

#include "host/daemon/memo_key.h"
#include "host/daemon/model_file.h"
#include "host/daemon/output_form.h"
#include "host/daemon/prompt.h"

namespace glmhost::daemon {
namespace {

using protocol::ErrorCode;
using protocol::ErrorMessage;

// One job on a clerk's desk. The lock is free while the clerk reads files, renders and encodes; the job may be gone
// whenever it is taken again.
class Preparation {
 public:
  Preparation(Core& core, const Job& job)
      : core_(core), id_(job.id), purpose_(job.purpose), request_(job.request), content_(job.content) {}

  void run() {
    try {
      find_file();
      if (purpose_ == Purpose::generate) {
        generate();
      } else {
        control();
      }
    } catch (const model_store::NoSuchModel& error) {
      fail({ErrorCode::no_model, error.what()});
    } catch (const Error& error) {
      fail(to_message(error));
    } catch (const std::bad_alloc&) {
      fail({ErrorCode::too_large, "There is not enough memory to prepare the request; send a shorter prompt."});
    } catch (const std::exception& error) {
      core_.log.error("preparing a request: " + std::string(error.what()));
      fail({ErrorCode::internal, "The request could not be prepared; the daemon's log tells more."});
    }
  }

 private:
  void fail(const ErrorMessage& error) {
    const std::lock_guard lock(core_.mutex);
    if (Job* job = core_.find(id_)) core_.fail(*job, error);
  }

  void find_file() {
    const std::string& asked = request_->model.empty() ? core_.settings.default_model : request_->model;
    stored_ = core_.store.resolve(asked);
    stamp_ = stamp_of(stored_.path);
    key_ = ModelRegistry::key_of(stored_.path);
    const std::lock_guard lock(core_.mutex);
    if (Job* job = core_.find(id_)) job->model_name = stored_.name;
  }

  // What is known of the model, in memory or not. Nothing for a file never loaded before.
  std::optional<ModelIdentity> identity(const ModelPtr& model) const {
    if (model != nullptr) return model->identity;
    if (core_.memo == nullptr) return std::nullopt;
    return core_.memo->find_identity(stored_.path, stamp_);
  }

  // Returns the model when it is in memory. Throws what loading it failed with lately.
  ModelPtr loaded_model() {
    const std::lock_guard lock(core_.mutex);
    const ModelRegistry::Entry* entry = core_.models.find(key_, stamp_, Clock::now());
    Job* job = core_.find(id_);
    if (entry == nullptr || job == nullptr) return nullptr;
    if (entry->state == ModelRegistry::Entry::State::failed) failure_ = entry->failure;
    if (entry->model != nullptr && purpose_ == Purpose::generate) core_.hold_model(*job, entry->model);
    return entry->model;
  }

  // A gap can be filled only with the model at hand: what fits is counted in its tokens.
  chat::Prompt prompt_for(const ModelIdentity& known, const ModelPtr& model) const {
    if (request_->infill) return build_infill_prompt(model->infill, *request_, model->tokenizer, model->context_tokens);
    return build_prompt(chat::ModelTemplate::from_text(known.chat_template), *request_, stored_.name);
  }

  void generate() {
    ModelPtr model = loaded_model();
    const std::optional<ModelIdentity> known = identity(model);
    if (request_->form && model == nullptr) check_form(*request_->form);
    const bool must_wait = !known || (request_->infill && model == nullptr);
    if (must_wait) return failure_ ? fail(*failure_) : wait_for_model();
    const chat::Prompt prompt = prompt_for(*known, model);
    if (content_ != known->content && request_->memo) {
      if (!look_for_answer(*known, prompt)) return;
    }
    if (model == nullptr && tells_tools(*request_)) {
      check_calls(*request_, chat::ModelTemplate::from_text(known->chat_template).tool_call_format());
    }
    if (model == nullptr) return failure_ ? fail(*failure_) : wait_for_model();
    queue(*model, prompt);
  }

  // False when the job is gone: answered from the store, or now one with an equal job.
  bool look_for_answer(const ModelIdentity& known, const chat::Prompt& prompt) {
    const Hash128 key = memo_key(known.content, known.chat_template, prompt, *request_);
    {
      const std::lock_guard lock(core_.mutex);
      Job* job = core_.find(id_);
      if (job == nullptr) return false;
      core_.unpublish(*job);  // made for a file that has been replaced since
      if (core_.publish(*job, key) != nullptr) return false;
      job->content = known.content;
    }
    if (core_.memo == nullptr) return true;
    std::optional<MemoAnswer> kept = core_.memo->find(key);
    if (!kept) return true;
    const std::lock_guard lock(core_.mutex);
    Job* job = core_.find(id_);
    if (job == nullptr) return false;
    job->answer = Answer(std::move(kept->content), std::move(kept->reasoning), std::move(kept->logprobs),
                         std::move(kept->tool_calls));
    job->finish_reason = std::move(kept->finish_reason);
    job->usage.prompt_tokens = kept->prompt_tokens;
    job->usage.generated_tokens = kept->generated_tokens;
    core_.accept(*job, 0);
    core_.log.debug("answered from the memo store: " + job->model_name);
    core_.finish(*job, true);
    return false;
  }

  void wait_for_model() {
    const std::lock_guard lock(core_.mutex);
    Job* job = core_.find(id_);
    if (job == nullptr) return;
    core_.wait_for_load(*job, key_, stored_, stamp_);
  }

  void queue(LoadedModel& model, const chat::Prompt& prompt) {
    generation::GenerationRequest generation;
    const PromptRoom room{.model_name = stored_.name,
                          .context = model.context_tokens,
                          .model_context = model.model->hyperparameters().context_length};
    check_bytes(model.tokenizer, prompt, room);
    generation.prompt = encode_prompt(model.tokenizer, prompt);
    check_tokens(static_cast<std::int64_t>(generation.prompt.size()), room);
    generation.sampling.temperature = request_->temperature;
    generation.sampling.top_k = request_->top_k;
    generation.sampling.top_p = request_->top_p;
    generation.sampling.min_p = request_->min_p;
    generation.sampling.repetition_penalty = request_->repetition_penalty;
    generation.sampling.seed = request_->seed;
    generation.sampling.logprobs = request_->logprobs;
    generation.max_tokens =
        static_cast<std::int32_t>(std::min<std::int64_t>(request_->max_tokens, model.context_tokens));
    generation.stop = request_->stop;
    std::optional<chat::ReasoningSplitter> splitter;
    const bool is_base = model.chat_template.empty();
    if (!is_base && !request_->prompt && !request_->infill) splitter.emplace(model.chat_template.splitter(prompt));
    if (request_->form) generation.form = demanded_form(*request_, model.constraints, splitter);
    std::optional<chat::ToolCallParser> tools;
    if (tells_tools(*request_)) {
      const chat::ToolCallFormat format = model.chat_template.tool_call_format();
      generation.form = form_of_calls(*request_, format, model.constraints, splitter);
      tools.emplace(format, request_->tools);
    }

    const std::lock_guard lock(core_.mutex);
    Job* job = core_.find(id_);
    if (job == nullptr) return;
    job->answer = Answer(std::move(splitter), std::move(tools));
    if (!prompt.template_failure.empty()) model.template_failure = prompt.template_failure;
    core_.enqueue(*job, std::move(generation));
    core_.accept(*job, core_.waiting.ahead(id_).value_or(0));
  }

  // --- load and unload

  void control() {
    const ModelPtr model = loaded_model();
    if (purpose_ == Purpose::load_model) {
      if (model != nullptr) return done();
      if (waited()) return failure_ ? fail(*failure_) : wait_for_model();
      return load_anew();
    }
    const std::lock_guard lock(core_.mutex);
    Job* job = core_.find(id_);
    if (job == nullptr) return;
    if (model == nullptr) {
      return core_.fail(*job, {ErrorCode::no_model, "The model " + stored_.name + " is not in memory."});
    }
    ModelPtr taken = core_.models.take(key_);
    if (taken == nullptr) {
      return core_.fail(
          *job, {ErrorCode::busy, "The model " + stored_.name + " is answering " + std::to_string(model->users) +
                                      " requests; unload it when they are done, or stop the daemon."});
    }
    core_.log.info("unloaded " + stored_.name + ": as asked");
    core_.discard({std::move(taken)});
    core_.finish(*job);
  }

  bool waited() {
    const std::lock_guard lock(core_.mutex);
    const Job* job = core_.find(id_);
    return job != nullptr && !job->model_key.empty();
  }

  // Whoever asks for it by name wants another try, also right after a failure.
  void load_anew() {
    const std::lock_guard lock(core_.mutex);
    Job* job = core_.find(id_);
    if (job == nullptr) return;
    core_.models.forget_failure(key_);
    core_.wait_for_load(*job, key_, stored_, stamp_);
  }

  void done() {
    const std::lock_guard lock(core_.mutex);
    if (Job* job = core_.find(id_)) core_.finish(*job);
  }

  Core& core_;
  const JobId id_;
  const Purpose purpose_;
  const std::shared_ptr<const protocol::Request> request_;
  const std::optional<Hash128> content_;  // of the file that the job's key was made with
  model_store::StoredModel stored_;
  FileStamp stamp_;
  std::string key_;
  std::optional<ErrorMessage> failure_;
};

}  // namespace

void run_clerk(Core& core, LaneId lane) {
  std::unique_lock lock(core.mutex);
  while (!core.ended) {
    const std::optional<JobId> next = core.preparing.next(lane);
    if (!next) {
      core.clerk_wake.wait(lock);
      continue;
    }
    core.preparing.take(*next);
    std::optional<Preparation> preparation(std::in_place, core, *core.find(*next));
    lock.unlock();
    preparation->run();
    preparation.reset();  // without the lock: it may hold the last of a large request
    lock.lock();
  }
}

}  // namespace glmhost::daemon
