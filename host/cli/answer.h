// A streamed answer, from the daemon to the terminal.
#pragma once

#include "host/cli/interrupt.h"
#include "host/protocol/client.h"

namespace glmhost::cli {

struct AnswerOptions {
  bool print = true;           // content to stdout as it comes
  bool show_thinking = false;  // reasoning to stderr
};

// Waits for the answer. Ctrl-C and a closed output cancel it in the daemon at once; the outcome of a cancelled one is
// ErrorMessage(cancelled). Text is written by the calling thread, so that a slow reader of stdout never holds up the
// connection. Throws OutputClosed.
protocol::Outcome stream_answer(protocol::Client& client, const protocol::Request& request,
                                const AnswerOptions& options, Interrupt& interrupt);

}  // namespace glmhost::cli
