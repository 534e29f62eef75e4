#include "excel-addin/functions/add_in.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "excel-addin/functions/answer_book.h"
#include "excel-addin/functions/call_error.h"
#include "excel-addin/functions/content_hash.h"

namespace glmhost::functions {
namespace {

using formula::ErrorCode;
using protocol::ErrorMessage;

constexpr std::uint32_t kDeadlineMs = 24 * 3'600'000;  // a filled column may take hours
constexpr std::size_t kLeastBudget = 512;
constexpr int kMostAttempts = 3;
constexpr std::chrono::seconds kModelsAge{10};
constexpr std::chrono::seconds kSameCalculation{2};  // where nobody tells when calculations end
const Topic kModelsTopic{0x6d6f64656c73, 0x474c4d};

ErrorCode error_value(protocol::ErrorCode code) {
  switch (code) {
    case protocol::ErrorCode::bad_request:
    case protocol::ErrorCode::too_large:
      return ErrorCode::value;
    default:
      return ErrorCode::not_available;
  }
}

Value models_table(const protocol::Status& status) {
  formula::Array array(status.models.size() + 1, 5);
  const char* const heads[] = {"model", "state", "architecture", "size in MB", "context tokens"};
  for (std::size_t i = 0; i < 5; ++i) array(0, i) = Value(heads[i]);
  for (std::size_t i = 0; i < status.models.size(); ++i) {
    const protocol::ModelStatus& model = status.models[i];
    array(i + 1, 0) = Value(model.name);
    array(i + 1, 1) = Value(model.state);
    array(i + 1, 2) = Value(model.architecture);
    array(i + 1, 3) = Value(static_cast<double>(model.file_bytes / 1'000'000));
    array(i + 1, 4) = model.context_tokens > 0 ? Value(static_cast<double>(model.context_tokens)) : Value("");
  }
  return array;
}

bool is_getting_data(const Argument& argument) {
  for (const Part& part : argument.parts) {
    for (std::uint32_t row = 0; part.cells && row < part.cells->rows(); ++row) {
      for (std::uint32_t column = 0; column < part.cells->columns(); ++column) {
        const Value cell = part.cells->cell(row, column);
        if (cell.is_error() && cell.error() == ErrorCode::getting_data) return true;
      }
    }
  }
  return false;
}

}  // namespace

std::string_view name(State state) {
  switch (state) {
    case State::done:
      return "done";
    case State::pending:
      return "pending";
    case State::failed:
      return "failed";
    case State::cancelled:
      return "cancelled";
  }
  return "failed";
}

struct AddIn::Impl {
  explicit Impl(AddInOptions the_options)
      : options(std::move(the_options)), defaults(parse_options(options.default_options)), client(options.client) {
    ranges::sweep();
    worker = std::thread([this] { run(); });
  }

  ~Impl() {
    {
      const std::lock_guard lock(mutex);
      stopping = true;
    }
    wake.notify_all();
    worker.join();
  }

  using Inquiries = std::vector<std::shared_ptr<Inquiry>>;

  // --- calls (Excel's threads); all with the lock held

  std::uint64_t calculation() {
    const auto now = Clock::now();
    if (now - last_call > kSameCalculation) ++calculations;
    last_call = now;
    return calculations;
  }

  void enqueue(const Inquiries& fresh) {
    if (fresh.empty()) return;
    queue.insert(queue.end(), fresh.begin(), fresh.end());
    last_asked = Clock::now();
    wake.notify_all();
  }

  Reply fail_at_once(const Cell& cell, FunctionId function, const CallError& error) {
    if (Record* const record = book.record(cell, function, nullptr, calculation())) {
      record->entry = nullptr;
      record->sentence = error.what();
    }
    return {State::failed, error.code(), std::nullopt, std::nullopt};
  }

  Reply reply(Entry& entry, Record* record) {
    Reply answer;
    answer.state = entry.state;
    if (entry.state == State::done) {
      answer.value = entry.value;
      answer.table = entry.segment;
      if (record != nullptr) {
        record->earlier = entry.value;
        record->earlier_table = entry.segment;
      }
      return answer;
    }
    const bool keeps = record != nullptr && record->earlier && entry.state != State::failed;
    if (keeps) {
      answer.value = *record->earlier;
      answer.table = record->earlier_table;
    } else if (entry.state == State::pending) {
      answer.value = ErrorCode::getting_data;
    } else {
      answer.value = entry.value;
    }
    if (entry.state == State::pending) {
      answer.topic = entry.topic;
      if (entry.says_missing && !keeps) {
        answer.state = State::failed;
        answer.value = ErrorCode::not_available;
      }
    }
    return answer;
  }

  // A failure is told once to each cell; a later calculation asks anew.
  bool must_ask_again(const Entry& entry, Record* record) {
    if (entry.state != State::failed && entry.state != State::cancelled) return false;
    if (record == nullptr) return true;
    if (record->told != 0 && record->told < calculations) return true;
    if (record->told == 0) record->told = calculations;
    return false;
  }

  Reply answer(const std::shared_ptr<Entry>& entry, FunctionId function, const Cell& cell, bool is_new) {
    const std::uint64_t now = calculation();
    Record* const record = book.record(cell, function, &entry->topic, now);
    if (record != nullptr && record->entry != entry) {
      record->entry = entry;
      record->sentence.clear();
      record->told = 0;
    }
    if (!is_new && must_ask_again(*entry, record)) {
      Inquiries fresh;
      if (!entry->inquiries.empty() && entry->inquiries[0]->table) {
        again_table(*entry, fresh);
      } else {
        book.ask_again(*entry, fresh);
      }
      entry->says_missing = missing;
      if (missing) entry->sentence = missing_sentence;
      if (record != nullptr) record->told = 0;
      enqueue(fresh);
    }
    return reply(*entry, record);
  }

  void again_table(Entry& entry, Inquiries& fresh) {
    Inquiry& asked = *entry.inquiries[0];
    asked.state = Inquiry::State::queued;
    asked.attempts = 0;
    asked.waiting.push_back(book.find(entry.topic));
    entry.state = State::pending;
    entry.sentence.clear();
    entry.note.clear();
    entry.left = 1;
    ++entry.revision;
    fresh.push_back(entry.inquiries[0]);
  }

  void begin(Entry& entry, const Inquiries& fresh) {
    if (missing && entry.state == State::pending) {
      entry.says_missing = true;
      entry.sentence = missing_sentence;
    }
    enqueue(fresh);
  }

  Reply of_cell(FunctionId function, std::span<const Argument> arguments) {
    if (arguments.size() != 1 || arguments[0].parts.size() != 1 || !arguments[0].parts[0].area) {
      return {State::failed, ErrorCode::value, std::nullopt, std::nullopt};
    }
    const formula::Area& area = *arguments[0].parts[0].area;
    const Cell cell{area.sheet, area.first_row, area.first_column};
    Reply answer;
    answer.value = function == FunctionId::status ? Value(book.status_of(cell)) : Value(book.error_of(cell));
    if (const auto entry = book.pending_entry_of(cell)) answer.topic = entry->topic;
    return answer;
  }

  Reply models() {
    Reply answer;
    const bool is_fresh = models_value && Clock::now() - models_at < kModelsAge;
    if (!is_fresh && !models_wanted) {
      models_wanted = true;
      wake.notify_all();
    }
    if (models_value) {
      answer.value = *models_value;
      if (is_fresh) return answer;
    } else {
      answer.value = ErrorCode::getting_data;
    }
    answer.state = State::pending;
    answer.topic = kModelsTopic;
    return answer;
  }

  // --- the background thread

  void run() {
    std::unique_lock lock(mutex);
    while (!stopping) {
      std::deque<std::pair<std::shared_ptr<Inquiry>, protocol::Outcome>> came;
      came.swap(done);
      std::vector<std::shared_ptr<Entry>> changed;
      for (auto& [inquiry, outcome] : came) {
        --open;
        take(lock, *inquiry, inquiry, outcome, changed);
      }
      if (models_wanted) look_for_models(lock);
      if (suspect || (missing && Clock::now() >= look_at)) look_for_daemon(lock, changed);
      if (may_send()) send(lock);
      notify(lock, changed);
      if (!done.empty() || stopping) continue;
      wait(lock);
    }
    std::vector<protocol::Client::Call> calls;
    for (const auto& inquiry : sent) calls.push_back(inquiry->call);
    lock.unlock();
    for (auto& call : calls) call.cancel();
  }

  bool may_send() const {
    if (queue.empty() || missing || open >= options.most_open || Clock::now() < hold_until) return false;
    return ended || open > 0 || Clock::now() >= last_asked + options.gather;
  }

  void wait(std::unique_lock<std::mutex>& lock) {
    auto until = Clock::time_point::max();
    if (missing) until = look_at;
    if (!queue.empty() && !missing && open < options.most_open) {
      until = std::min(until, std::max(ended ? Clock::now() : last_asked + options.gather, hold_until));
    }
    const auto ready = [this] {
      return stopping || !done.empty() || models_wanted || suspect || may_send() || !revised.empty();
    };
    if (until == Clock::time_point::max()) {
      wake.wait(lock, [&] { return ready() || (!queue.empty() && open < options.most_open); });
    } else {
      wake.wait_until(lock, until, ready);
    }
  }

  void send(std::unique_lock<std::mutex>& lock) {
    ended = false;
    if (open == 0) ++counters.batches;
    while (!queue.empty() && open < options.most_open && !stopping) {
      const std::shared_ptr<Inquiry> inquiry = queue.front();
      queue.pop_front();
      if (inquiry->state != Inquiry::State::queued) continue;
      inquiry->state = Inquiry::State::open;
      ++open;
      ++counters.requests;
      sent.insert(inquiry);
      lock.unlock();
      // Nobody else touches an inquiry's question or budget.
      protocol::RequestCallbacks callbacks;
      callbacks.on_done = [this, inquiry](const protocol::Outcome& outcome) {
        const std::lock_guard guard(mutex);
        done.emplace_back(inquiry, outcome);
        wake.notify_all();
      };
      std::string note;
      protocol::Client::Call call = start(*inquiry, std::move(callbacks), note);
      lock.lock();
      inquiry->note = std::move(note);
      inquiry->call = call;
      if (inquiry->state == Inquiry::State::cancelled) inquiry->call.cancel();
    }
  }

  protocol::Client::Call start(Inquiry& inquiry, protocol::RequestCallbacks callbacks, std::string& note) {
    if (inquiry.table) {
      protocol::TableRequest request;
      request.pipeline = inquiry.table->pipeline;
      for (std::size_t i = 0; i < inquiry.table->tables.size(); ++i) {
        request.tables.push_back({"table" + std::to_string(i + 1), inquiry.table->tables[i].name()});
      }
      inquiry.table->result.emplace();
      request.result = inquiry.table->result->name();
      return client.start(request, std::move(callbacks));
    }
    protocol::Request request = inquiry.question->request(inquiry.budget, note);
    request.deadline_ms = kDeadlineMs;
    return client.start(request, std::move(callbacks));
  }

  void take(std::unique_lock<std::mutex>& lock, Inquiry& inquiry, const std::shared_ptr<Inquiry>& self,
            const protocol::Outcome& outcome, std::vector<std::shared_ptr<Entry>>& changed) {
    sent.erase(self);
    if (inquiry.state == Inquiry::State::cancelled) return;
    if (const auto* result = std::get_if<protocol::Result>(&outcome)) {
      ++counters.answers;
      if (result->from_memo) ++counters.from_memo;
      take_result(lock, inquiry, *result);
      return book.settle(inquiry, changed);
    }
    const auto& error = std::get<ErrorMessage>(outcome);
    const auto again = [&] {
      inquiry.state = Inquiry::State::queued;
      queue.push_front(self);
    };
    if (error.code == protocol::ErrorCode::busy) {
      hold_until = Clock::now() + std::chrono::milliseconds(200);
      return again();
    }
    if (error.code == protocol::ErrorCode::backend_failed && ++inquiry.attempts < kMostAttempts) {
      suspect = true;
      return again();
    }
    if (error.code == protocol::ErrorCode::too_large && inquiry.question && inquiry.question->can_be_cut()) {
      std::string ignored;
      const std::size_t size = joined(inquiry.question->pieces, inquiry.budget, ignored).size();
      if (size > kLeastBudget) {
        inquiry.budget = size * 3 / 4;
        return again();
      }
    }
    inquiry.state = Inquiry::State::failed;
    inquiry.value = error_value(error.code);
    inquiry.sentence = error.sentence;
    book.settle(inquiry, changed);
  }

  void take_result(std::unique_lock<std::mutex>& lock, Inquiry& inquiry, const protocol::Result& result) {
    Value value;
    std::optional<ranges::Segment> segment;
    std::string note, sentence;
    std::optional<ErrorCode> failure;
    lock.unlock();
    try {
      if (inquiry.table) {
        segment = inquiry.table->result->open();
        note = notes_of(result.content);
      } else {
        value = to_value(*inquiry.question, result, note);
      }
    } catch (const CallError& error) {
      failure = error.code();
      sentence = error.what();
    } catch (const std::exception& error) {
      failure = ErrorCode::not_available;
      sentence = error.what();
    }
    lock.lock();
    if (inquiry.state == Inquiry::State::cancelled) return;
    if (!note.empty()) inquiry.note += (inquiry.note.empty() ? "" : " ") + note;
    inquiry.state = failure ? Inquiry::State::failed : Inquiry::State::done;
    inquiry.value = failure ? Value(*failure) : std::move(value);
    inquiry.sentence = std::move(sentence);
    inquiry.segment = std::move(segment);
    if (inquiry.table) inquiry.table->result.reset();  // the segment keeps itself
  }

  static std::string notes_of(const std::string& content) {
    std::string notes;
    const auto json = nlohmann::ordered_json::parse(content, nullptr, false);
    if (!json.is_object() || !json.contains("notes") || !json["notes"].is_array()) return notes;
    for (const auto& note : json["notes"]) {
      if (note.is_string()) notes += (notes.empty() ? "" : " ") + note.get<std::string>();
    }
    return notes;
  }

  // After a failure that may mean that the daemon went away, and while it is away.
  void look_for_daemon(std::unique_lock<std::mutex>& lock, std::vector<std::shared_ptr<Entry>>& changed) {
    suspect = false;
    lock.unlock();
    const auto status = client.status();
    lock.lock();
    const auto* const error = std::get_if<ErrorMessage>(&status);
    if (error == nullptr) {
      missing = false;
      return;
    }
    look_at = Clock::now() + options.retry;
    const bool first = !missing;
    missing = true;
    missing_sentence = error->sentence;
    // What was open was not at fault.
    for (const auto& inquiry : queue) inquiry->attempts = 0;
    if (!first) return;
    for (const auto& [topic, entry] : book.entries()) {
      if (entry->state != State::pending || entry->says_missing) continue;
      entry->says_missing = true;
      entry->sentence = missing_sentence;
      ++entry->revision;
      changed.push_back(entry);
    }
  }

  void look_for_models(std::unique_lock<std::mutex>& lock) {
    lock.unlock();
    const auto status = client.status();
    lock.lock();
    models_wanted = false;
    models_at = Clock::now();
    if (const auto* known = std::get_if<protocol::Status>(&status)) {
      models_value = models_table(*known);
    } else {
      models_value = ErrorCode::not_available;
    }
    ++models_revision;
    revised.push_back(kModelsTopic);
  }

  void notify(std::unique_lock<std::mutex>& lock, const std::vector<std::shared_ptr<Entry>>& changed) {
    for (const auto& entry : changed) revised.push_back(entry->topic);
    if (revised.empty()) return;
    std::vector<Topic> topics;
    topics.swap(revised);
    std::vector<SubscriptionId> ids;
    for (const Topic& topic : topics) {
      const auto [begin, end] = by_topic.equal_range(topic);
      for (auto at = begin; at != end; ++at) ids.push_back(at->second);
    }
    lock.unlock();
    for (const SubscriptionId id : ids) {
      const std::lock_guard guard(callback_mutex);
      std::function<void()> callback;
      {
        const std::lock_guard inner(mutex);
        const auto found = subscriptions.find(id);
        if (found != subscriptions.end()) callback = found->second.second;
      }
      if (callback) callback();
    }
    lock.lock();
  }

  const AddInOptions options;
  const Options defaults;

  mutable std::mutex mutex;
  std::recursive_mutex callback_mutex;  // held while a callback runs; taken before `mutex`
  std::condition_variable wake;
  AnswerBook book;
  std::deque<std::shared_ptr<Inquiry>> queue;
  std::set<std::shared_ptr<Inquiry>> sent;
  std::deque<std::pair<std::shared_ptr<Inquiry>, protocol::Outcome>> done;
  std::unordered_map<SubscriptionId, std::pair<Topic, std::function<void()>>> subscriptions;
  std::unordered_multimap<Topic, SubscriptionId, TopicHash> by_topic;
  std::vector<Topic> revised;  // whose subscribers are to be told
  SubscriptionId last_subscription = 0;
  std::size_t open = 0;
  bool stopping = false;
  bool ended = false;  // a calculation has: what was gathered can go
  bool suspect = false;
  bool missing = false;
  std::string missing_sentence;
  Clock::time_point look_at{}, hold_until{}, last_asked{}, last_call{};
  std::uint64_t calculations = 1;
  std::optional<Value> models_value;
  Clock::time_point models_at{};
  bool models_wanted = false;
  std::uint64_t models_revision = 0;
  Counters counters;

  protocol::Client client;  // gone before what its callbacks touch
  std::thread worker;
};

AddIn::AddIn(AddInOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
AddIn::~AddIn() = default;

Reply AddIn::call(FunctionId function, std::span<const Argument> arguments, const Cell& cell) {
  Impl& impl = *impl_;
  if (function == FunctionId::version) return {State::done, Value("GLM Host " GLMHOST_VERSION), {}, {}};
  if (function == FunctionId::status || function == FunctionId::error || function == FunctionId::models) {
    const std::lock_guard lock(impl.mutex);
    return function == FunctionId::models ? impl.models() : impl.of_cell(function, arguments);
  }
  try {
    if (function == FunctionId::table) throw CallError("The tables of GLM.TABLE must be ranges.");
    const Topic topic = topic_of(function, arguments, impl.defaults);
    {
      const std::lock_guard lock(impl.mutex);
      if (const auto entry = impl.book.find(topic)) {
        ++impl.counters.hits;
        return impl.answer(entry, function, cell, false);
      }
    }
    // Cells that wait themselves: this one is calculated again when they have their answers.
    if (std::any_of(arguments.begin(), arguments.end(), is_getting_data)) {
      return {State::pending, ErrorCode::getting_data, std::nullopt, std::nullopt};
    }
    Plan plan = make_plan(function, arguments, impl.defaults, impl.options.most_context_bytes, topic);
    const std::lock_guard lock(impl.mutex);
    std::shared_ptr<Entry> entry = impl.book.find(topic);
    if (!entry) {
      Impl::Inquiries fresh;
      entry = impl.book.add(topic, std::move(plan), fresh);
      impl.begin(*entry, fresh);
    }
    return impl.answer(entry, function, cell, true);
  } catch (const CallError& error) {
    const std::lock_guard lock(impl.mutex);
    return impl.fail_at_once(cell, function, error);
  }
}

Reply AddIn::call_table(const Argument& pipeline, std::span<const ranges::Segment> tables, const Cell& cell) {
  Impl& impl = *impl_;
  try {
    if (pipeline.parts.size() != 1 || !pipeline.parts[0].cells || tables.empty()) {
      throw CallError("GLM.TABLE takes a pipeline and at least one range.");
    }
    const Value source = pipeline.parts[0].cells->cell(0, 0);
    if (source.is_error()) throw CallError(source.error(), "The pipeline is an error value.");
    ContentHash hash;
    hash.add(static_cast<std::uint64_t>(FunctionId::table));
    hash.add(source);
    for (const ranges::Segment& table : tables) {
      const ranges::Segment::Hash content = table.content_hash();
      hash.add(content.low);
      hash.add(content.high);
    }
    const Topic topic = hash.topic();
    const std::lock_guard lock(impl.mutex);
    std::shared_ptr<Entry> entry = impl.book.find(topic);
    const bool is_new = !entry;
    if (is_new) {
      auto work = std::make_unique<TableWork>();
      work->pipeline = shown(source);
      work->tables.assign(tables.begin(), tables.end());
      Impl::Inquiries fresh;
      entry = impl.book.add_table(topic, std::move(work), fresh);
      impl.begin(*entry, fresh);
    } else {
      ++impl.counters.hits;
    }
    return impl.answer(entry, FunctionId::table, cell, is_new);
  } catch (const CallError& error) {
    const std::lock_guard lock(impl.mutex);
    return impl.fail_at_once(cell, FunctionId::table, error);
  }
}

AddIn::SubscriptionId AddIn::subscribe(const Topic& topic, std::function<void()> changed) {
  const std::lock_guard lock(impl_->mutex);
  const SubscriptionId id = ++impl_->last_subscription;
  impl_->subscriptions.emplace(id, std::pair(topic, std::move(changed)));
  impl_->by_topic.emplace(topic, id);
  return id;
}

void AddIn::unsubscribe(SubscriptionId subscription) {
  const std::lock_guard running(impl_->callback_mutex);
  const std::lock_guard lock(impl_->mutex);
  const auto found = impl_->subscriptions.find(subscription);
  if (found == impl_->subscriptions.end()) return;
  const auto [begin, end] = impl_->by_topic.equal_range(found->second.first);
  for (auto at = begin; at != end; ++at) {
    if (at->second != subscription) continue;
    impl_->by_topic.erase(at);
    break;
  }
  impl_->subscriptions.erase(found);
}

std::uint64_t AddIn::revision(const Topic& topic) const {
  const std::lock_guard lock(impl_->mutex);
  if (topic == kModelsTopic) return impl_->models_revision;
  const auto entry = impl_->book.find(topic);
  return entry ? entry->revision : 0;
}

void AddIn::calculation_ended() {
  {
    const std::lock_guard lock(impl_->mutex);
    ++impl_->calculations;
    impl_->ended = !impl_->queue.empty();
  }
  impl_->wake.notify_all();
}

void AddIn::cancel_all() {
  Impl& impl = *impl_;
  std::vector<protocol::Client::Call> calls;
  {
    const std::lock_guard lock(impl.mutex);
    for (const auto& inquiry : impl.queue) inquiry->state = Inquiry::State::cancelled;
    impl.queue.clear();
    for (const auto& inquiry : impl.sent) {
      inquiry->state = Inquiry::State::cancelled;
      calls.push_back(inquiry->call);
    }
    for (const auto& [topic, entry] : impl.book.entries()) {
      if (entry->state != State::pending) continue;
      impl.book.cancel(*entry);
      impl.revised.push_back(topic);
    }
  }
  for (auto& call : calls) call.cancel();
  impl.wake.notify_all();
}

std::string AddIn::status_of(const Cell& cell) const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->book.status_of(cell);
}

std::string AddIn::error_of(const Cell& cell) const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->book.error_of(cell);
}

AddIn::Counters AddIn::counters() const {
  const std::lock_guard lock(impl_->mutex);
  Counters counters = impl_->counters;
  counters.open = impl_->queue.size() + impl_->open;
  counters.daemon_missing = impl_->missing;
  return counters;
}

}  // namespace glmhost::functions
