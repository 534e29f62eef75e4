// The add-in without Excel: what each worksheet function does.
//
// call() looks the answer up by the content of the question and returns at once: a done answer, or what the cell should
// show while it waits. A background thread owns the connection to the daemon, gathers what is asked within one
// calculation, sends it as batch work with a common prefix, and tells subscribers when answers come. Single cells and
// whole arrays of the same function share their answers value by value.
//
// Times: a call whose answer is there takes under 20 microseconds, one that is asked for the first time under 100, both
// for short arguments; reading a large range takes as long as it takes to read it once. Nothing here waits for the
// daemon, the model or the socket.
//
// A daemon that is not there: done answers stay; a new question is #N/A with a sentence in GLM.ERROR, is told of once,
// and goes on by itself when the daemon comes. The daemon is never started from here.
//
// A failure is an error value with its sentence in error_of(). It is not kept: the next time that the same cell is
// calculated, it asks anew. The calculation in which a cell learns of a failure does not ask again, so that nothing
// goes in a circle.
//
// Thread rules: every member from any thread. Callbacks run on the background thread, must return quickly and may call
// everything here but the destructor.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "excel-addin/functions/argument.h"
#include "excel-addin/functions/catalogue.h"
#include "excel-addin/functions/topic.h"
#include "host/protocol/client.h"
#include "host/ranges/segment.h"

namespace glmhost::functions {

enum class State : std::uint8_t { done, pending, failed, cancelled };
std::string_view name(State state);  // "done", ...

struct Reply {
  State state = State::done;
  // What the cell shows: the answer (a scalar or an array); while pending the cell's earlier answer, else
  // #GETTING_DATA; an error value for a failure.
  Value value;
  // GLM.TABLE, done: the answer in a segment, whose column names are the first row to spill; `value` is then empty.
  std::optional<ranges::Segment> table;
  // Set while there is something to wait for (pending, and failed for want of a daemon): subscribe to it.
  std::optional<Topic> topic;
};

struct AddInOptions {
  protocol::ClientOptions client{.program = "Excel", .runtime_folder = {}};
  std::string default_options;  // as of GLM.WITH, below those of a formula
  // A calculation's questions are sent when it ends (calculation_ended) or nothing was asked for so long.
  std::chrono::milliseconds gather{20};
  std::size_t most_open = 256;               // requests at the daemon at once
  std::chrono::milliseconds retry{1000};     // between looks for a daemon that is not there
  std::size_t most_context_bytes = 400'000;  // of a range's rendering, before what the model's context allows
};

class AddIn {
 public:
  explicit AddIn(AddInOptions options = {});
  ~AddIn();  // ends the background thread; open questions are cancelled at the daemon
  AddIn(const AddIn&) = delete;
  AddIn& operator=(const AddIn&) = delete;

  // Every function but GLM.TABLE. Wrong arguments are a failed reply at once.
  Reply call(FunctionId function, std::span<const Argument> arguments, const Cell& cell);

  // GLM.TABLE: the tables lie in segments already. The first is the pipeline's input; all are known to it as table1,
  // table2, ... `pipeline` is the first argument of the formula.
  Reply call_table(const Argument& pipeline, std::span<const ranges::Segment> tables, const Cell& cell);

  // Wakes what waits. `changed` is called every time that the topic's state or value changes; not after unsubscribe()
  // has returned (unless it is called by the callback itself). 0 is no subscription.
  using SubscriptionId = std::uint64_t;
  SubscriptionId subscribe(const Topic& topic, std::function<void()> changed);
  void unsubscribe(SubscriptionId subscription);

  // Counts up with every change of the topic: the value of an RTD topic. 0: nothing is known of it.
  std::uint64_t revision(const Topic& topic) const;

  // Events of Excel. Neither is needed for things to go on; they only make it quicker.
  void calculation_ended();

  // Esc, and the ribbon's "cancel all": everything open is cancelled, at the daemon too. The cells keep what they show.
  void cancel_all();

  // GLM.STATUS and GLM.ERROR for a cell, as texts; also reached through call().
  std::string status_of(const Cell& cell) const;  // "pending", "done", "done: 20 of 400 rows were left out ...", ...
  std::string error_of(const Cell& cell) const;   // empty: no error

  struct Counters {
    std::uint64_t requests = 0;   // sent to the daemon
    std::uint64_t answers = 0;    // that came, from wherever
    std::uint64_t from_memo = 0;  // of them: without the model
    std::uint64_t batches = 0;    // gatherings sent
    std::uint64_t hits = 0;       // calls that found their answer
    std::uint64_t open = 0;       // questions waiting now
    bool daemon_missing = false;
  };
  Counters counters() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace glmhost::functions
