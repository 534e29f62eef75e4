// Answers from the daemon's model, in memory once they have come.
//
// A question is a topic, named by a hash of the function and its arguments. Watching a topic begins the work; a
// background thread gathers what comes within a moment (a column of cells comes one by one) and sends it as one batch.
// When the last watcher goes, unfinished work is cancelled, and what failed is forgotten, so that the next calculation
// tries again. What was answered stays. A daemon that is not there is waited for.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "excel-addin/xll/answers.h"
#include "excel-addin/xll/plan.h"
#include "host/protocol/client.h"

namespace glmhost::xll {

class ModelAnswers final : public Answers {
 public:
  // `runtime_folder` is where the daemon's address is written; empty: the usual one.
  explicit ModelAnswers(std::filesystem::path runtime_folder = {});
  ~ModelAnswers() override;

  std::vector<FunctionText> catalogue() const override;
  Reply ask(std::string_view function, const std::vector<formula::Value>& arguments, bool only_look) override;
  void cancel_all() override;

  std::uint64_t watch(const std::string& topic, std::function<void()> changed) override;
  void unwatch(std::uint64_t watch) override;
  std::string value(const std::string& topic) override;

 private:
  struct Topic {
    Plan plan;  // without requests: the list of models
    std::vector<std::optional<std::string>> answers;
    std::size_t missing = 0;
    Reply reply;
    std::map<std::uint64_t, std::function<void()>> watchers;
    std::map<std::size_t, protocol::Client::Call> calls;
    bool begun = false;
  };
  using TopicPointer = std::shared_ptr<Topic>;
  struct Piece {  // one request of a topic
    TopicPointer topic;
    std::size_t index;
  };

  void begin(const TopicPointer& topic);
  void run();
  void gather(std::unique_lock<std::mutex>& lock);
  void send(const Piece& piece);
  void take(const Piece& piece, const protocol::Outcome& outcome);
  void look_at_models(const TopicPointer& topic);
  std::vector<std::function<void()>> finish(Topic& topic, Reply reply);

  const std::filesystem::path runtime_folder_;
  std::mutex mutex_;
  std::condition_variable woken_;
  // The rest is guarded by mutex_.
  std::unordered_map<std::string, TopicPointer> topics_;
  std::unordered_map<std::uint64_t, std::string> watches_;
  std::uint64_t last_watch_ = 0;
  std::vector<Piece> waiting_;  // to be sent
  std::size_t open_ = 0;        // sent and not answered
  std::optional<std::chrono::steady_clock::time_point> retry_at_;
  bool stopping_ = false;
  std::unique_ptr<protocol::Client> client_;
  std::thread thread_;
};

}  // namespace glmhost::xll
