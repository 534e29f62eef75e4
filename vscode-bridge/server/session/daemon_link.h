// The daemon as the completer's model, and a watch over it: whether it is there, whether the model is loaded.
//
// The model is loaded by a request of its own, so that loading goes on whatever becomes of single questions. A daemon
// that is not there is started where the user has allowed it.
//
// Thread rules: the members are called by the server's thread; everything that comes back is posted to the queue.
#pragma once

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "host/protocol/client.h"
#include "vscode-bridge/server/session/events.h"

namespace glmhost::session {

struct DaemonLinkOptions {
  std::string model;          // empty: the daemon's default
  bool may_start = false;     // a daemon, when none runs
  std::filesystem::path glm;  // the program; empty: beside this one, else on PATH
};

class DaemonLink : public completion::Model {
 public:
  explicit DaemonLink(std::shared_ptr<EventQueue> queue);
  ~DaemonLink() override;
  DaemonLink(const DaemonLink&) = delete;
  DaemonLink& operator=(const DaemonLink&) = delete;

  void set_options(DaemonLinkOptions options);
  void watch();         // begins to
  void want_model();    // loads it if it is not, and looks at the daemon now
  void start_daemon();  // once, whatever the options say

  void start(completion::StreamId id, const completion::ModelRequest& request) override;
  void cancel(completion::StreamId id) override;
  void forget(completion::StreamId id) { calls_.erase(id); }  // it is done

  static protocol::Request to_request(const completion::ModelRequest& request, const std::string& model);

 private:
  void run();
  DaemonState look();
  struct Load {
    std::atomic<bool> done = false;
    protocol::Outcome outcome = protocol::ErrorMessage{};  // once done
  };
  void begin_loading();
  void end_loading();
  void try_to_start();

  std::shared_ptr<EventQueue> queue_;
  protocol::Client client_;
  std::map<completion::StreamId, protocol::Client::Call> calls_;

  std::mutex mutex_;  // over what follows
  std::condition_variable wake_;
  DaemonLinkOptions options_;
  bool stopping_ = false;
  bool look_now_ = false;
  bool wants_model_ = true;
  bool start_once_ = false;
  std::shared_ptr<Load> load_;  // under way
  std::string loaded_name_;     // what the daemon calls the model
  std::string failure_;         // of the last load
  Clock::time_point last_start_{};

  std::thread watcher_;
};

}  // namespace glmhost::session
