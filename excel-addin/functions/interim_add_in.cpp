#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>

#include "excel-addin/functions/add_in.h"
#include "excel-addin/functions/interim_plan.h"
#include "excel-addin/functions/interim_topic.h"

namespace glmhost::functions {
namespace {

using formula::ErrorCode;
using Clock = std::chrono::steady_clock;

// What a person must change is #VALUE!; what is out of reach is #N/A.
ErrorCode cell_error(protocol::ErrorCode code) {
  return code == protocol::ErrorCode::bad_request || code == protocol::ErrorCode::too_large ? ErrorCode::value
                                                                                            : ErrorCode::not_available;
}

bool passes_by_itself(protocol::ErrorCode code) {
  return code == protocol::ErrorCode::backend_failed || code == protocol::ErrorCode::busy;
}

Value value_of(const Argument& argument) {
  if (argument.is_omitted()) return Value::omitted();
  std::size_t rows = 0, columns = 0;
  for (const Part& part : argument.parts) {
    if (part.cells == nullptr) continue;
    rows += part.cells->rows();
    columns = std::max<std::size_t>(columns, part.cells->columns());
  }
  if (rows == 0) return {};
  if (rows == 1 && columns == 1) {
    for (const Part& part : argument.parts) {
      if (part.cells != nullptr) return part.cells->cell(0, 0);
    }
  }
  formula::Array array(rows, columns);
  std::size_t at = 0;
  for (const Part& part : argument.parts) {
    for (std::uint32_t row = 0; part.cells != nullptr && row < part.cells->rows(); ++row, ++at) {
      for (std::uint32_t column = 0; column < part.cells->columns(); ++column)
        array(at, column) = part.cells->cell(row, column);
    }
  }
  return array;
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

struct CellHash {
  std::size_t operator()(const Cell& cell) const {
    return std::hash<std::string>()(cell.sheet) ^
           ((std::uint64_t{cell.row} << 14 | cell.column) * 0x9E37'79B9'7F4A'7C15u);
  }
};

void call_all(const std::vector<std::function<void()>>& functions) {
  for (const auto& function : functions) function();
}

}  // namespace

std::string_view name(State state) {
  constexpr std::string_view kNames[] = {"done", "pending", "failed", "cancelled"};
  return kNames[static_cast<std::size_t>(state)];
}

struct AddIn::Impl {
  struct Question {
    Plan plan;  // without requests: the list of models
    std::vector<std::optional<std::string>> answers;
    std::size_t missing = 0;
    State state = State::pending;
    Value value;
    std::string sentence;
    std::uint64_t revision = 1;
    std::map<SubscriptionId, std::function<void()>> subscribers;
    std::map<std::size_t, protocol::Client::Call> calls;
  };
  using QuestionPointer = std::shared_ptr<Question>;
  struct Piece {
    QuestionPointer question;
    std::size_t index;
  };
  struct Told {
    FunctionId function{};
    State state = State::done;
    std::string sentence;
    std::optional<Value> earlier;
  };

  explicit Impl(AddInOptions given) : options(std::move(given)) {}

  void run();
  void send(const Piece& piece);
  void take(const Piece& piece, const protocol::Outcome& outcome);
  void look_at_models(const QuestionPointer& question);
  std::vector<std::function<void()>> finish(Question& question, State state, Value value, std::string sentence);

  const AddInOptions options;
  mutable std::mutex mutex;
  std::condition_variable woken;
  // The rest is guarded by mutex.
  std::unordered_map<Topic, QuestionPointer, TopicHash> questions;
  std::unordered_map<SubscriptionId, Topic> subscriptions;
  std::unordered_map<Cell, Told, CellHash> cells;
  SubscriptionId last_subscription = 0;
  std::vector<Piece> waiting;
  std::size_t open = 0;
  std::optional<Clock::time_point> retry_at;
  bool ended = false;  // a calculation
  bool stopping = false;
  Counters counters;
  std::unique_ptr<protocol::Client> client;
  std::thread thread;
};

AddIn::AddIn(AddInOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}

AddIn::~AddIn() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
  }
  impl_->woken.notify_all();
  if (impl_->thread.joinable()) impl_->thread.join();
  impl_->client.reset();
}

Reply AddIn::call(FunctionId function, std::span<const Argument> arguments, const Cell& cell) {
  if (function == FunctionId::version) return {State::done, GLMHOST_VERSION, {}, {}};
  if (function == FunctionId::status || function == FunctionId::error) {
    if (arguments.empty() || arguments[0].parts.empty() || !arguments[0].parts[0].area) {
      return {State::failed, ErrorCode::value, {}, {}};
    }
    const formula::Area& area = *arguments[0].parts[0].area;
    const Cell asked{area.sheet.empty() ? cell.sheet : area.sheet, area.first_row, area.first_column};
    return {State::done, function == FunctionId::status ? status_of(asked) : error_of(asked), {}, {}};
  }
  std::vector<Value> values;
  for (const Argument& argument : arguments) values.push_back(value_of(argument));
  while (!values.empty() && values.back().is_omitted()) values.pop_back();
  const Topic topic = topic_of(function, values);

  const std::unique_lock lock(impl_->mutex);
  Reply reply;
  std::string sentence;
  Impl::QuestionPointer question;
  if (const auto found = impl_->questions.find(topic); found != impl_->questions.end()) question = found->second;
  if (question == nullptr) {
    auto made = std::make_shared<Impl::Question>();
    Planned planned = function == FunctionId::models ? Planned(Plan()) : make_plan(info(function).name, values);
    if (const auto* refusal = std::get_if<Refusal>(&planned)) {
      reply = {State::failed, refusal->error, {}, {}};
      sentence = refusal->sentence;
    } else {
      question = made;
      made->plan = std::move(std::get<Plan>(planned));
      made->answers.resize(made->plan.requests.size());
      made->missing = made->answers.size();
      made->sentence = made->plan.note;
      impl_->questions.emplace(topic, made);
      for (std::size_t i = 0; i < std::max<std::size_t>(1, made->answers.size()); ++i)
        impl_->waiting.push_back({made, i});
      if (!impl_->thread.joinable()) impl_->thread = std::thread([this] { impl_->run(); });
      impl_->woken.notify_all();
    }
  } else if (question->state == State::done) {
    ++impl_->counters.hits;
  }
  if (question != nullptr) {
    reply.state = question->state;
    reply.value = question->value;
    sentence = question->sentence;
    if (question->state == State::pending) reply.topic = topic;
  }
  if (cell.is_known()) {
    Impl::Told& told = impl_->cells[cell];
    if (told.function != function) told.earlier.reset();
    told.function = function;
    told.state = reply.state;
    told.sentence = sentence;
    if (reply.state == State::done) told.earlier = reply.value;
    if (reply.state == State::pending && told.earlier) reply.value = *told.earlier;
    if (reply.state == State::pending && !told.earlier) reply.value = ErrorCode::getting_data;
  } else if (reply.state == State::pending) {
    reply.value = ErrorCode::getting_data;
  }
  return reply;
}

Reply AddIn::call_table(const Argument&, std::span<const ranges::Segment>, const Cell& cell) {
  const std::lock_guard lock(impl_->mutex);
  if (cell.is_known()) {
    impl_->cells[cell] = {FunctionId::table,
                          State::failed,
                          "The table language does not run in Excel yet; `glm table` runs it on files.",
                          {}};
  }
  return {State::failed, ErrorCode::not_available, {}, {}};
}

AddIn::SubscriptionId AddIn::subscribe(const Topic& topic, std::function<void()> changed) {
  const std::lock_guard lock(impl_->mutex);
  const auto found = impl_->questions.find(topic);
  if (found == impl_->questions.end()) return 0;
  const SubscriptionId number = ++impl_->last_subscription;
  impl_->subscriptions[number] = topic;
  found->second->subscribers.emplace(number, std::move(changed));
  return number;
}

void AddIn::unsubscribe(SubscriptionId number) {
  std::map<std::size_t, protocol::Client::Call> cancelled;
  {
    const std::lock_guard lock(impl_->mutex);
    const auto subscription = impl_->subscriptions.find(number);
    if (subscription == impl_->subscriptions.end()) return;
    const auto found = impl_->questions.find(subscription->second);
    impl_->subscriptions.erase(subscription);
    if (found == impl_->questions.end()) return;
    const Impl::QuestionPointer question = found->second;
    question->subscribers.erase(number);
    const bool stays = question->state == State::done && !question->plan.requests.empty();
    if (!question->subscribers.empty() || stays) return;
    impl_->questions.erase(found);
    std::erase_if(impl_->waiting, [&](const Impl::Piece& piece) { return piece.question == question; });
    cancelled = std::exchange(question->calls, {});
  }
  for (auto& [index, call] : cancelled) call.cancel();
}

std::uint64_t AddIn::revision(const Topic& topic) const {
  const std::lock_guard lock(impl_->mutex);
  const auto found = impl_->questions.find(topic);
  return found == impl_->questions.end() ? 0 : found->second->revision;
}

void AddIn::calculation_ended() {
  const std::lock_guard lock(impl_->mutex);
  impl_->ended = true;
  impl_->woken.notify_all();
}

void AddIn::cancel_all() {
  std::vector<std::function<void()>> told;
  std::vector<protocol::Client::Call> cancelled;
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->waiting.clear();
    for (auto& [topic, question] : impl_->questions) {
      if (question->state != State::pending) continue;
      for (auto& [index, call] : std::exchange(question->calls, {})) cancelled.push_back(call);
      for (auto& each : impl_->finish(*question, State::cancelled, ErrorCode::not_available,
                                      "It was cancelled; calculate the cell to ask again.")) {
        told.push_back(std::move(each));
      }
    }
    // Nobody would ever take it away, or ask again.
    std::erase_if(impl_->questions, [](const auto& each) {
      return each.second->state == State::cancelled && each.second->subscribers.empty();
    });
  }
  for (protocol::Client::Call& call : cancelled) call.cancel();
  call_all(told);
}

std::string AddIn::status_of(const Cell& cell) const {
  const std::lock_guard lock(impl_->mutex);
  const auto found = impl_->cells.find(cell);
  if (found == impl_->cells.end()) return "no answer was asked for here";
  std::string text(name(found->second.state));
  if (!found->second.sentence.empty()) text += ": " + found->second.sentence;
  return text;
}

std::string AddIn::error_of(const Cell& cell) const {
  const std::lock_guard lock(impl_->mutex);
  const auto found = impl_->cells.find(cell);
  if (found == impl_->cells.end() || found->second.state == State::done || found->second.state == State::pending)
    return {};
  return found->second.sentence;
}

AddIn::Counters AddIn::counters() const {
  const std::lock_guard lock(impl_->mutex);
  Counters counters = impl_->counters;
  counters.open = impl_->open + impl_->waiting.size();
  return counters;
}

std::vector<std::function<void()>> AddIn::Impl::finish(Question& question, State state, Value value,
                                                       std::string sentence) {
  question.state = state;
  question.value = std::move(value);
  question.sentence = sentence.empty() ? question.plan.note : std::move(sentence);
  ++question.revision;
  std::vector<std::function<void()>> told;
  for (const auto& [number, changed] : question.subscribers) told.push_back(changed);
  return told;
}

void AddIn::Impl::run() {
  std::unique_lock lock(mutex);
  while (!stopping) {
    if (retry_at) {
      woken.wait_until(lock, *retry_at, [&] { return stopping; });
      retry_at.reset();
    } else {
      woken.wait(lock, [&] { return stopping || (!waiting.empty() && open < options.most_open); });
      // Cells of a column come one by one: they wait for each other until the calculation ends or no more come.
      for (std::size_t before = 0; before != waiting.size() && !stopping && !ended;) {
        before = waiting.size();
        woken.wait_for(lock, options.gather, [&] { return stopping || ended; });
      }
      ended = false;
    }
    if (stopping) return;
    if (client == nullptr) client = std::make_unique<protocol::Client>(options.client);
    const std::size_t count = std::min(waiting.size(), options.most_open - std::min(options.most_open, open));
    const auto end = waiting.begin() + static_cast<std::ptrdiff_t>(count);
    const std::vector<Piece> now(waiting.begin(), end);
    waiting.erase(waiting.begin(), end);
    open += count;
    counters.requests += count;
    if (count > 0) ++counters.batches;
    lock.unlock();
    for (const Piece& piece : now) {
      if (piece.question->plan.requests.empty()) {
        look_at_models(piece.question);
      } else {
        send(piece);
      }
    }
    lock.lock();
  }
}

void AddIn::Impl::look_at_models(const QuestionPointer& question) {
  const auto status = client->status();
  std::vector<std::function<void()>> told;
  {
    const std::lock_guard lock(mutex);
    --open;
    if (const auto* error = std::get_if<protocol::ErrorMessage>(&status)) {
      told = finish(*question, State::failed, cell_error(error->code), error->sentence);
    } else {
      told = finish(*question, State::done, models_table(std::get<protocol::Status>(status)), {});
    }
  }
  call_all(told);
}

void AddIn::Impl::send(const Piece& piece) {
  protocol::RequestCallbacks callbacks;
  callbacks.on_done = [this, piece](const protocol::Outcome& outcome) { take(piece, outcome); };
  const protocol::Client::Call call = client->start(piece.question->plan.requests[piece.index], std::move(callbacks));
  const std::lock_guard lock(mutex);
  if (piece.question->state == State::pending && !piece.question->answers[piece.index]) {
    piece.question->calls[piece.index] = call;
  }
}

void AddIn::Impl::take(const Piece& piece, const protocol::Outcome& outcome) {
  std::vector<std::function<void()>> told;
  {
    const std::lock_guard lock(mutex);
    Question& question = *piece.question;
    --open;
    question.calls.erase(piece.index);
    const auto* error = std::get_if<protocol::ErrorMessage>(&outcome);
    if (question.state != State::pending) {
      // Nobody waits for it any more.
    } else if (error == nullptr) {
      const auto& result = std::get<protocol::Result>(outcome);
      ++counters.answers;
      counters.from_memo += result.from_memo ? 1 : 0;
      question.answers[piece.index] = result.content;
      if (--question.missing == 0) {
        std::vector<std::string> answers;
        for (auto& answer : question.answers) answers.push_back(std::move(*answer));
        Value value = question.plan.assemble(answers);
        if (value.is_error()) {
          const ErrorCode code = value.error();
          told = finish(question, State::failed, code,
                        "The model's answer is not of the type that was asked for: " + answers[0].substr(0, 200));
        } else {
          told = finish(question, State::done, std::move(value),
                        result.finish_reason == "length" ? "The answer was cut off at max_tokens." : "");
        }
      }
    } else if (passes_by_itself(error->code)) {
      question.sentence = error->sentence;
      waiting.push_back(piece);
      retry_at = Clock::now() + options.retry;
    } else if (error->code != protocol::ErrorCode::cancelled) {
      told = finish(question, State::failed, cell_error(error->code), error->sentence);
    }
  }
  woken.notify_all();
  call_all(told);
}

}  // namespace glmhost::functions
