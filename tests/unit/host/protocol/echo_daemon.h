// A daemon whose model is simple: asked for max_tokens tokens, it answers "0 1 2 ...", paced by credits as the real one
// is. Everything else is the real thing: socket, handshake, lock.
//
// The prompt says how it behaves: "never" gives no token at all (for cancelling), "silence" not even an accepted
// message, "wait" one token each millisecond.
#pragma once

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "host/platform/file_lock.h"
#include "host/protocol/server_socket.h"

namespace glmhost::test {

class EchoDaemon {
 public:
  // Throws std::runtime_error when another one holds the folder's lock.
  explicit EchoDaemon(const std::filesystem::path& runtime_folder, const std::string& address = "");
  ~EchoDaemon();
  EchoDaemon(const EchoDaemon&) = delete;
  EchoDaemon& operator=(const EchoDaemon&) = delete;

  struct Seen {
    std::vector<protocol::Hello> hellos;
    std::vector<protocol::Request> requests;
    std::vector<protocol::DecodeError> malformed;
    std::size_t cancels = 0;
    std::size_t gone = 0;
    std::size_t credits = 0;  // credit messages
    std::size_t deltas = 0;   // sent
  };
  Seen seen();

  // Waits until the condition holds for what was seen; false after 20 seconds.
  bool wait_until(const std::function<bool(const Seen&)>& condition);

  const protocol::Endpoint& endpoint() const { return endpoint_; }

 private:
  struct Open {
    protocol::Request request;
    std::int64_t credits = 0;
    std::int32_t made = 0;
    std::string unsent;
    std::string all;
  };
  using Key = std::pair<protocol::PeerId, std::uint64_t>;

  void run(protocol::ServerSocket& socket);
  void take(protocol::ServerSocket& socket, protocol::ServerEvent event);
  void take(protocol::ServerSocket& socket, protocol::PeerId peer,
            protocol::Envelope<protocol::ClientMessage> envelope);
  void generate(protocol::ServerSocket& socket);

  std::filesystem::path folder_;
  std::string address_;
  std::map<Key, Open> open_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Seen seen_;
  std::atomic<bool> stop_{false};
  protocol::ServerSocket* socket_ = nullptr;  // while the thread runs
  protocol::Endpoint endpoint_;
  std::thread thread_;
};

}  // namespace glmhost::test
