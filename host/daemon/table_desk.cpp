#include "host/daemon/table_desk.h"

#include <algorithm>
#include <map>
#include <new>

#include "excel-addin/formula/syntax_error.h"
#include "excel-addin/formula/text_units.h"
#include "excel-addin/table/engine.h"
#include "excel-addin/table/range_table.h"
#include "excel-addin/table/table_error.h"
#include "host/ranges/range_error.h"

namespace glmhost::daemon {
namespace {

using protocol::ErrorCode;
using protocol::ErrorMessage;

constexpr std::size_t kMostOpen = 1024;

// The tables of a request; each is opened when it is first asked for.
class Tables {
 public:
  explicit Tables(const protocol::TableRequest& request) : request_(request) {}

  table::Table named(const std::string& name) {
    for (const protocol::TableInput& input : request_.tables) {
      if (formula::equal_without_case(input.name, name)) return open(input);
    }
    std::vector<std::string_view> names;
    for (const protocol::TableInput& input : request_.tables) names.push_back(input.name);
    const std::string near(formula::nearest_of(name, names));
    throw table::TableError("There is no table `" + name + "`." +
                            (near.empty() ? "" : " Did you mean `" + near + "`?"));
  }

  table::Table first() { return open(request_.tables[0]); }

 private:
  table::Table open(const protocol::TableInput& input) {
    const auto known = opened_.find(input.name);
    if (known != opened_.end()) return known->second;
    return opened_.emplace(input.name, table::to_table(ranges::Segment::open(input.segment))).first->second;
  }

  const protocol::TableRequest& request_;
  std::map<std::string, table::Table> opened_;
};

std::string sentence_for(const formula::SyntaxError& error, std::string_view source) {
  const formula::Position position = formula::position_of(source, error.offset());
  return "The pipeline is wrong at line " + std::to_string(position.line) + ", column " +
         std::to_string(position.column) + ":\n" + formula::caret_text(source, error.offset(), error.length()) +
         error.what();
}

}  // namespace

TableDesk::TableDesk(unsigned threads, Send send)
    : threads_(threads), send_(std::move(send)), thread_([this] { run(); }) {}

TableDesk::~TableDesk() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (const auto& job : jobs_) job->cancelled = true;
  }
  wake_.notify_all();
  thread_.join();
}

void TableDesk::open(PeerId peer, std::uint64_t id, protocol::TableRequest request) {
  auto job = std::make_shared<Job>();
  job->peer = peer;
  job->id = id;
  job->deadline = Clock::now() + std::chrono::milliseconds(request.deadline_ms);
  job->request = std::move(request);
  const std::lock_guard lock(mutex_);
  if (jobs_.size() >= kMostOpen) {
    send_(peer, id,
          ErrorMessage{ErrorCode::busy, "The daemon is busy: " + std::to_string(kMostOpen) +
                                            " table pipelines are open; send it again in a moment."});
    return;
  }
  jobs_.push_back(std::move(job));
  wake_.notify_all();
}

// Ends jobs before their time. One that runs is told now and goes when it notices.
template <class Which>
void TableDesk::end_those(const Which& which, const std::optional<ErrorMessage>& why) {
  const std::lock_guard lock(mutex_);
  for (auto at = jobs_.begin(); at != jobs_.end();) {
    Job& job = **at;
    if (job.cancelled || !which(job)) {
      ++at;
      continue;
    }
    job.cancelled = true;
    if (why) send_(job.peer, job.id, *why);
    at = at == jobs_.begin() ? at + 1 : jobs_.erase(at);
  }
}

void TableDesk::cancel(PeerId peer, std::uint64_t id) {
  end_those([&](const Job& job) { return job.peer == peer && job.id == id; },
            ErrorMessage{ErrorCode::cancelled, "The request was cancelled."});
}

void TableDesk::forget_peer(PeerId peer) {
  end_those([&](const Job& job) { return job.peer == peer; }, std::nullopt);
}

void TableDesk::cancel_all(const ErrorMessage& why) {
  end_those([](const Job&) { return true; }, why);
}

void TableDesk::expire(Clock::time_point now) {
  end_those([&](const Job& job) { return job.deadline <= now; },
            ErrorMessage{ErrorCode::deadline,
                         "The deadline passed before the pipeline was done. Allow more time or ask for less."});
}

std::optional<TableDesk::Clock::time_point> TableDesk::next_deadline() const {
  const std::lock_guard lock(mutex_);
  std::optional<Clock::time_point> next;
  for (const auto& job : jobs_) {
    if (!job->cancelled && (!next || job->deadline < *next)) next = job->deadline;
  }
  return next;
}

bool TableDesk::nothing_open() const {
  const std::lock_guard lock(mutex_);
  return jobs_.empty();
}

void TableDesk::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (stopping_) return;
    const std::shared_ptr<Job> job = jobs_.front();
    lock.unlock();
    protocol::DaemonMessage message = answer(*job);
    lock.lock();
    jobs_.pop_front();
    if (!job->cancelled) send_(job->peer, job->id, std::move(message));
  }
}

protocol::DaemonMessage TableDesk::answer(const Job& job) const {
  const std::string& source = job.request.pipeline;
  try {
    table::Workers workers(threads_, &job.cancelled);
    Tables tables(job.request);
    const table::Pipeline pipeline = table::parse_pipeline(source);
    table::RunOptions options;
    options.open_table = [&](const std::string& name) { return tables.named(name); };
    const table::RunResult run = table::run_pipeline(pipeline, source, tables.first(), options, workers);
    table::write_table(run.table, workers, job.request.result);
    const nlohmann::ordered_json said = {
        {"rows", run.table.rows()}, {"columns", run.table.width()}, {"notes", run.notes}};
    protocol::Result result;
    result.content = said.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    result.finish_reason = "stop";
    return result;
  } catch (const formula::SyntaxError& error) {
    return ErrorMessage{ErrorCode::bad_request, sentence_for(error, source)};
  } catch (const table::Cancelled&) {
    return ErrorMessage{ErrorCode::cancelled, "The request was cancelled."};
  } catch (const table::TableError& error) {
    return ErrorMessage{ErrorCode::bad_request, error.what()};
  } catch (const ranges::RangeError& error) {
    return ErrorMessage{ErrorCode::bad_request, error.what()};
  } catch (const std::bad_alloc&) {
    return ErrorMessage{ErrorCode::too_large, "There is not enough memory for this pipeline over tables of this size."};
  } catch (const std::exception& error) {
    return ErrorMessage{ErrorCode::internal, std::string("The pipeline failed: ") + error.what()};
  }
}

}  // namespace glmhost::daemon
