// The daemon's end of the protocol: one ROUTER socket, the handshake, and who may speak to it.
//
// Where it listens
//   ipc (Linux): <runtime folder>/daemon.sock in a 0700 folder; the kernel's word for the peer's user id is checked
//   too. tcp (Windows): 127.0.0.1 with CURVE. host.json (0600) holds the server's public key and the one client key
//   pair that is let in; all keys are new at every start. Nobody who cannot read that file gets past the handshake.
// Other addresses than loopback are refused. The caller holds the daemon's lock: only under it may a stale socket file
// be removed and a new one bound.
//
// What it does by itself: answers hello and ping, answers malformed messages with their error, refuses another protocol
// version and messages before hello, and notices peers that went away: at once when their process ended or closed the
// connection, within 15 seconds when it hangs or is stopped (heartbeats).
//
// Thread rules: one thread uses it (constructor to destructor); only wake() may be called from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "host/platform/file_lock.h"
#include "host/protocol/client.h"
#include "host/protocol/messages.h"

namespace glmhost::protocol {

struct ServerOptions {
  std::filesystem::path runtime_folder;  // empty: platform::runtime_folder()
  std::string address;  // empty: ipc on Linux, tcp on Windows; else "ipc" or "tcp://127.0.0.1:<port or 0>"
  std::string version;  // of the daemon; empty: this build's
};

// One connection. Never used again for another one while the ServerSocket lives, so it may be kept as a key.
using PeerId = std::uint64_t;

struct Incoming {
  PeerId peer = 0;
  Envelope<ClientMessage>
      envelope;  // Hello (once, first; already answered), Request, Cancel, Credit, StatusRequest, Control
};

// A message that broke a rule; the peer has been told. For the log and the counters.
struct Malformed {
  PeerId peer = 0;
  DecodeError error;
};

// The connection is gone: whatever it asked for has nobody to go to. Comes once for every peer that said hello.
struct PeerGone {
  PeerId peer = 0;
};

using ServerEvent = std::variant<Incoming, Malformed, PeerGone>;

class ServerSocket {
 public:
  // Makes the runtime folder, binds and writes host.json. `lock` is the daemon's lock, <runtime_folder>/daemon.lock,
  // and outlives this object. Throws std::runtime_error with a sentence.
  ServerSocket(const ServerOptions& options, const platform::FileLock& lock);
  ~ServerSocket();  // removes host.json and the socket file; unsent messages have up to five seconds to leave
  ServerSocket(const ServerSocket&) = delete;
  ServerSocket& operator=(const ServerSocket&) = delete;

  // Waits for the next events; empty after `timeout` (negative: never) or wake(). At most a few hundred at a time.
  std::vector<ServerEvent> poll(std::chrono::milliseconds timeout);

  // Never blocks. False when the peer is gone, or reads so slowly that thousands of messages wait for it, which ends
  // the connection too (a PeerGone follows from the next poll either way).
  bool send(PeerId peer, const Envelope<DaemonMessage>& envelope);

  // Makes the current or next poll() return at once. From any thread.
  void wake();

  const Endpoint& endpoint() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace glmhost::protocol
