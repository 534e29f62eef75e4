#include "excel-addin/xll/model_answers.h"

#include <algorithm>
#include <utility>

#include "excel-addin/xll/topic_name.h"

namespace glmhost::xll {
namespace {

using formula::ErrorCode;
using formula::Value;
using std::chrono::milliseconds;

// Cells of a column come one by one within a calculation: as long as more come, they wait for each other.
constexpr milliseconds kQuiet{10};
constexpr milliseconds kLongestGathering{200};
constexpr std::size_t kMostOpen = 2048;  // the daemon takes 3072 of one client
constexpr milliseconds kRetry{1000};

Reply failure(ErrorCode error, std::string sentence) {
  return {Reply::State::failed, error, {}, std::move(sentence)};
}

// What a person must change is #VALUE!; what is out of reach is #N/A.
ErrorCode cell_error(protocol::ErrorCode code) {
  return code == protocol::ErrorCode::bad_request || code == protocol::ErrorCode::too_large ? ErrorCode::value
                                                                                           : ErrorCode::not_available;
}

bool passes_by_itself(protocol::ErrorCode code) {
  return code == protocol::ErrorCode::backend_failed || code == protocol::ErrorCode::busy;
}

Value models_table(const protocol::Status& status) {
  formula::Array table(status.models.size() + 1, 3);
  table(0, 0) = "model";
  table(0, 1) = "state";
  table(0, 2) = "architecture";
  for (std::size_t i = 0; i < status.models.size(); ++i) {
    table(i + 1, 0) = status.models[i].name;
    table(i + 1, 1) = status.models[i].state;
    table(i + 1, 2) = status.models[i].architecture;
  }
  return table;
}

void call_all(const std::vector<std::function<void()>>& functions) {
  for (const auto& function : functions) function();
}

}  // namespace

ModelAnswers::ModelAnswers(std::filesystem::path runtime_folder) : runtime_folder_(std::move(runtime_folder)) {}

ModelAnswers::~ModelAnswers() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  woken_.notify_all();
  if (thread_.joinable()) thread_.join();
  client_.reset();
}

std::vector<FunctionText> ModelAnswers::catalogue() const {
  std::vector<FunctionText> all = planned_functions();
  all.push_back({"GLM.TABLE",
                 "The result of a pipeline of the table language on ranges.",
                 {{"pipeline", "As in \"filter amount > 100 | sort -amount\""},
                  {"table1", "A range with headers in its first row"},
                  {"[table2]", "Another one, for joins"}}});
  all.push_back({"GLM.STATUS", "Whether a cell's answer is there: pending, done or failed.", {{"cell", "A cell with a GLM formula"}}});
  all.push_back({"GLM.ERROR", "The sentence behind the error value of a cell.", {{"cell", "A cell with a GLM formula"}}});
  all.push_back({"GLM.MODELS", "The models that are there, as a table.", {}});
  all.push_back({"GLM.VERSION", "The version of this add-in.", {}});
  return all;
}

Reply ModelAnswers::ask(std::string_view function, const std::vector<Value>& arguments, bool only_look) {
  if (function == "GLM.VERSION") return {Reply::State::done, GLMHOST_VERSION, {}, {}};
  if (function == "GLM.TABLE") {
    return failure(ErrorCode::not_available,
                   "The table language does not run in Excel yet; `glm table` runs it on files.");
  }
  std::string name = topic_name(function, arguments);
  {
    const std::lock_guard lock(mutex_);
    const auto found = topics_.find(name);
    if (found != topics_.end()) return found->second->reply;
  }
  auto topic = std::make_shared<Topic>();
  if (function != "GLM.MODELS") {
    Planned planned = make_plan(function, arguments);
    if (const auto* refusal = std::get_if<Refusal>(&planned)) return failure(refusal->error, refusal->sentence);
    topic->plan = std::move(std::get<Plan>(planned));
    topic->answers.resize(topic->plan.requests.size());
    topic->missing = topic->answers.size();
  }
  topic->reply.state = Reply::State::pending;
  topic->reply.topic = name;
  topic->reply.sentence = topic->plan.note;
  Reply reply = topic->reply;
  if (!only_look) {
    const std::lock_guard lock(mutex_);
    topics_.emplace(std::move(name), std::move(topic));
  }
  return reply;
}

std::uint64_t ModelAnswers::watch(const std::string& name, std::function<void()> changed) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t number = ++last_watch_;
  const auto found = topics_.find(name);
  if (found == topics_.end()) return number;  // from a saved book, or a script: nobody has asked yet
  watches_[number] = name;
  found->second->watchers.emplace(number, std::move(changed));
  if (found->second->reply.state == Reply::State::pending && !found->second->begun) begin(found->second);
  // Whoever comes late is told too, so that its cell lets go of the topic.
  if (found->second->reply.state != Reply::State::pending) found->second->watchers[number]();
  return number;
}

void ModelAnswers::begin(const TopicPointer& topic) {
  topic->begun = true;
  for (std::size_t i = 0; i < std::max<std::size_t>(1, topic->plan.requests.size()); ++i) waiting_.push_back({topic, i});
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  woken_.notify_all();
}

void ModelAnswers::unwatch(std::uint64_t number) {
  std::map<std::size_t, protocol::Client::Call> cancelled;
  {
    const std::lock_guard lock(mutex_);
    const auto watch = watches_.find(number);
    if (watch == watches_.end()) return;
    const auto found = topics_.find(watch->second);
    watches_.erase(watch);
    if (found == topics_.end()) return;
    const TopicPointer topic = found->second;
    topic->watchers.erase(number);
    const bool stays = topic->reply.state == Reply::State::done && !topic->plan.requests.empty();
    if (!topic->watchers.empty() || stays) return;
    topics_.erase(found);
    std::erase_if(waiting_, [&](const Piece& piece) { return piece.topic == topic; });
    cancelled = std::exchange(topic->calls, {});
  }
  for (auto& [index, call] : cancelled) call.cancel();
}

std::string ModelAnswers::value(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto found = topics_.find(name);
  if (found == topics_.end()) return "unknown";
  switch (found->second->reply.state) {
    case Reply::State::done: return "done";
    case Reply::State::failed: return "failed";
    default: return "pending";
  }
}

void ModelAnswers::cancel_all() {
  std::vector<std::function<void()>> told;
  std::vector<protocol::Client::Call> cancelled;
  {
    const std::lock_guard lock(mutex_);
    waiting_.clear();
    for (auto& [name, topic] : topics_) {
      if (topic->reply.state != Reply::State::pending || !topic->begun) continue;
      for (auto& [index, call] : std::exchange(topic->calls, {})) cancelled.push_back(call);
      for (auto& each : finish(*topic, failure(ErrorCode::not_available, "It was cancelled; calculate the cell to ask again."))) {
        told.push_back(std::move(each));
      }
    }
  }
  for (protocol::Client::Call& call : cancelled) call.cancel();
  call_all(told);
}

std::vector<std::function<void()>> ModelAnswers::finish(Topic& topic, Reply reply) {
  reply.topic = topic.reply.topic;
  if (reply.sentence.empty()) reply.sentence = topic.plan.note;
  topic.reply = std::move(reply);
  std::vector<std::function<void()>> told;
  for (const auto& [number, changed] : topic.watchers) told.push_back(changed);
  return told;
}

void ModelAnswers::gather(std::unique_lock<std::mutex>& lock) {
  const auto end = std::chrono::steady_clock::now() + kLongestGathering;
  for (std::size_t before = 0; before != waiting_.size() && !stopping_ && std::chrono::steady_clock::now() < end;) {
    before = waiting_.size();
    lock.unlock();
    std::this_thread::sleep_for(kQuiet);
    lock.lock();
  }
}

void ModelAnswers::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (retry_at_) {
      woken_.wait_until(lock, *retry_at_, [&] { return stopping_; });
      retry_at_.reset();
    } else {
      woken_.wait(lock, [&] { return stopping_ || (!waiting_.empty() && open_ < kMostOpen); });
      gather(lock);
    }
    if (stopping_) return;
    if (client_ == nullptr) {
      protocol::ClientOptions options;
      options.program = "glm64.xll";
      options.runtime_folder = runtime_folder_;
      client_ = std::make_unique<protocol::Client>(options);
    }
    const std::size_t count = std::min(waiting_.size(), kMostOpen - std::min(kMostOpen, open_));
    std::vector<Piece> now(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
    open_ += count;
    lock.unlock();
    for (const Piece& piece : now) {
      if (piece.topic->plan.requests.empty()) {
        look_at_models(piece.topic);
      } else {
        send(piece);
      }
    }
    lock.lock();
  }
}

void ModelAnswers::look_at_models(const TopicPointer& topic) {
  const auto status = client_->status();
  std::vector<std::function<void()>> told;
  {
    const std::lock_guard lock(mutex_);
    --open_;
    if (const auto* error = std::get_if<protocol::ErrorMessage>(&status)) {
      told = finish(*topic, failure(cell_error(error->code), error->sentence));
    } else {
      told = finish(*topic, {Reply::State::done, models_table(std::get<protocol::Status>(status)), {}, {}});
    }
  }
  call_all(told);
}

void ModelAnswers::send(const Piece& piece) {
  protocol::RequestCallbacks callbacks;
  callbacks.on_done = [this, piece](const protocol::Outcome& outcome) { take(piece, outcome); };
  const protocol::Client::Call call = client_->start(piece.topic->plan.requests[piece.index], std::move(callbacks));
  const std::lock_guard lock(mutex_);
  if (piece.topic->reply.state == Reply::State::pending && !piece.topic->answers[piece.index]) {
    piece.topic->calls[piece.index] = call;
  }
}

void ModelAnswers::take(const Piece& piece, const protocol::Outcome& outcome) {
  std::vector<std::function<void()>> told;
  {
    const std::lock_guard lock(mutex_);
    Topic& topic = *piece.topic;
    --open_;
    topic.calls.erase(piece.index);
    if (topic.reply.state != Reply::State::pending || topic.watchers.empty()) {
      // Nobody waits for it any more.
    } else if (const auto* result = std::get_if<protocol::Result>(&outcome)) {
      topic.answers[piece.index] = result->content;
      if (--topic.missing == 0) {
        std::vector<std::string> answers;
        for (auto& answer : topic.answers) answers.push_back(std::move(*answer));
        Reply reply{Reply::State::done, topic.plan.assemble(answers), {}, {}};
        if (result->finish_reason == "length") reply.sentence = "The answer was cut off at max_tokens.";
        if (reply.value.is_error()) {
          reply.state = Reply::State::failed;
          reply.sentence = "The model's answer is not of the type that was asked for: " + answers[0].substr(0, 200);
        }
        told = finish(topic, std::move(reply));
      }
    } else {
      const auto& error = std::get<protocol::ErrorMessage>(outcome);
      if (passes_by_itself(error.code)) {
        topic.reply.sentence = error.sentence;
        waiting_.push_back(piece);
        retry_at_ = std::chrono::steady_clock::now() + kRetry;
      } else {
        told = finish(topic, failure(cell_error(error.code), error.sentence));
      }
    }
  }
  woken_.notify_all();
  call_all(told);
}

}  // namespace glmhost::xll
