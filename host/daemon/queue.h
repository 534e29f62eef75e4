// Who runs next: interactive before batch, fair between clients, and a bound on what may be open.
//
// Both classes are plain policy, without clocks, threads or I/O. Thread rules: none of their own; the daemon keeps them
// under its lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <unordered_map>

#include "host/protocol/messages.h"
#include "host/protocol/server_socket.h"

namespace glmhost::daemon {

using JobId = std::uint64_t;
using LaneId = std::uint64_t;  // a place where jobs wait for the same thing, such as one loaded model
using protocol::PeerId;
using protocol::Priority;

// Lines of waiting jobs. Within a lane, every interactive job comes before every batch job; within a priority, clients
// take turns, one job each, and a client's own jobs keep their order.
class Queue {
 public:
  struct Ticket {
    JobId job = 0;
    PeerId client = 0;
    Priority priority = Priority::interactive;
    LaneId lane = 0;
  };

  void push(const Ticket& ticket);      // job must not be in the queue
  void put_back(const Ticket& ticket);  // to the very front of its priority: it had its turn and was made to give way

  // The job whose turn it is. Does not move anything.
  std::optional<JobId> next(LaneId lane, Priority priority) const;
  std::optional<JobId> next(LaneId lane) const;  // interactive, else batch

  // Takes the job out because it runs now: its client goes to the end of the round.
  void take(JobId job);
  // Takes the job out because nobody wants it any more: the round stays as it is. False when it is not waiting.
  bool remove(JobId job);
  // Moves a batch job to the end of its client's interactive jobs. False when it is not waiting.
  bool promote(JobId job);
  // The client that asked first is gone, another one still waits for the same answer. False when it is not waiting.
  bool change_client(JobId job, PeerId client);

  // Jobs of the same lane that come before this one if nothing else arrives; nothing when it is not waiting.
  std::optional<std::size_t> ahead(JobId job) const;
  std::size_t size() const { return places_.size(); }
  std::size_t size(LaneId lane) const;

 private:
  struct Line {
    PeerId client = 0;
    std::list<JobId> jobs;
  };
  using Round = std::list<Line>;  // front: whose turn it is
  struct Place {
    Ticket ticket;
    Round::iterator line;
    std::list<JobId>::iterator job;
  };
  using RoundKey = std::pair<LaneId, Priority>;

  void extract(JobId job);  // and drops a line or round that became empty
  Round::iterator find_line(Round& round, PeerId client);

  std::map<RoundKey, Round> rounds_;
  std::unordered_map<JobId, Place> places_;
};

// How much may be open at once, from arrival to the last message of the answer. It is not enough to refuse when all is
// full: a column of five thousand cells would then lock the editor out. So one client gets at most three quarters of
// the places, batch work of all clients at most seven eighths, and at least one place each.
class Admission {
 public:
  struct Limits {
    std::size_t requests = 0;
    std::uint64_t bytes = 0;
  };
  enum class Verdict { admitted, full, full_for_client, full_for_batch, bytes };

  explicit Admission(Limits limits) : limits_(limits) {}

  // A request larger than all of the bytes is admitted when nothing else is open: it would never be otherwise.
  Verdict admit(PeerId client, Priority priority, std::uint64_t bytes);
  void release(PeerId client, Priority priority, std::uint64_t bytes);
  // The request's text is no longer held; its place still is.
  void release_bytes(std::uint64_t bytes) { bytes_ -= bytes; }

  std::size_t open() const { return open_; }
  std::uint64_t bytes() const { return bytes_; }
  const Limits& limits() const { return limits_; }
  std::size_t client_limit() const;
  std::size_t batch_limit() const;

 private:
  Limits limits_;
  std::size_t open_ = 0;
  std::size_t batch_ = 0;
  std::uint64_t bytes_ = 0;
  std::unordered_map<PeerId, std::size_t> by_client_;
};

}  // namespace glmhost::daemon
