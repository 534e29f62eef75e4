// Finding the daemon, and starting one.
#pragma once

#include <memory>

#include "host/protocol/client.h"

namespace glmhost::cli {

enum class WithoutDaemon {
  fail,   // Failure(no_daemon)
  start,  // start one, say so on stderr, wait until it answers
};

// A client of a daemon that has just answered. Throws Failure with a sentence: no_daemon, also when the one that was
// started ended at once (with its last words) or does not answer in time.
std::unique_ptr<protocol::Client> connect(WithoutDaemon without);

// Throws Failure for an error, gives the result otherwise.
protocol::Result require_result(const protocol::Outcome& outcome);

// The process that holds the daemon's lock; nothing when no daemon runs. 0: one runs, its id is not known.
std::optional<std::uint32_t> daemon_process();

}  // namespace glmhost::cli
