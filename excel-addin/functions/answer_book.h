// Everything that was asked, by topic: what is known, what is open, and who waits. The add-in's own state, under its
// one lock; no threads and no connection of its own.
//
//   Inquiry   a question on its way to an answer; shared by all calls that ask it
//   Entry     a call: its plan, its inquiries, its value when all of them are there
//   Record    what a cell last asked with one function, and what it showed
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "excel-addin/functions/add_in.h"
#include "excel-addin/functions/question.h"
#include "host/ranges/writer.h"

namespace glmhost::functions {

using Clock = std::chrono::steady_clock;

struct Entry;

// GLM.TABLE's part of an inquiry.
struct TableWork {
  std::string pipeline;
  std::vector<ranges::Segment> tables;
  std::optional<ranges::ResultSlot> result;
};

struct Inquiry {
  enum class State : std::uint8_t { queued, open, done, failed, cancelled };
  State state = State::queued;
  Topic key;
  std::shared_ptr<const Question> question;  // or
  std::unique_ptr<TableWork> table;
  std::vector<std::weak_ptr<Entry>> waiting;
  Value value;  // an error value when it failed
  std::optional<ranges::Segment> segment;
  std::string sentence, note;
  std::size_t budget = SIZE_MAX;  // bytes of text; less after the daemon has found it too long
  int attempts = 0;
  protocol::Client::Call call;
};

struct Entry {
  Topic topic;
  functions::State state = functions::State::pending;
  Plan plan;
  std::vector<std::shared_ptr<Inquiry>> inquiries;  // of plan.questions, or the one of a table
  std::size_t left = 0;                             // inquiries without an answer
  Value value;
  std::optional<ranges::Segment> segment;
  std::string sentence, note;
  bool says_missing = false;  // its cells were told that there is no daemon
  std::uint64_t revision = 1;
};

struct Record {
  FunctionId function = FunctionId::glm;
  std::shared_ptr<Entry> entry;  // null: it failed at once
  std::string sentence;          // of such a failure
  std::optional<Value> earlier;  // the last answer that the cell had
  std::optional<ranges::Segment> earlier_table;
  std::uint64_t seen = 0;  // the calculation that last used it
  std::uint64_t told = 0;  // in which it learned that its entry failed; 0: not yet
};

struct CellHash {
  std::size_t operator()(const Cell& cell) const {
    return std::hash<std::string>()(cell.sheet) ^ (std::size_t{cell.row} * 0x9E3779B97F4A7C15u + cell.column);
  }
};

class AnswerBook {
 public:
  // The record that this call of the cell uses. Null for a call from no cell.
  Record* record(const Cell& cell, FunctionId function, const Topic* topic, std::uint64_t calculation);

  std::shared_ptr<Entry> find(const Topic& topic) const;
  // Puts an entry for the plan there; its new inquiries are appended to `fresh`.
  std::shared_ptr<Entry> add(const Topic& topic, Plan plan, std::vector<std::shared_ptr<Inquiry>>& fresh);
  std::shared_ptr<Entry> add_table(const Topic& topic, std::unique_ptr<TableWork> work,
                                   std::vector<std::shared_ptr<Inquiry>>& fresh);
  // The same entry asks again what failed.
  void ask_again(Entry& entry, std::vector<std::shared_ptr<Inquiry>>& fresh);

  // The inquiry has its answer: entries that are complete now have theirs. Appends those that changed.
  void settle(Inquiry& inquiry, std::vector<std::shared_ptr<Entry>>& changed);
  void cancel(Entry& entry);

  std::string status_of(const Cell& cell) const;
  std::string error_of(const Cell& cell) const;
  std::shared_ptr<Entry> pending_entry_of(const Cell& cell) const;
  const std::unordered_map<Topic, std::shared_ptr<Entry>, TopicHash>& entries() const { return entries_; }

 private:
  std::shared_ptr<Inquiry> inquiry(const Topic& key, std::vector<std::shared_ptr<Inquiry>>& fresh);
  void complete(Entry& entry);
  void make_room();
  std::vector<const Record*> latest(const Cell& cell) const;

  std::unordered_map<Topic, std::shared_ptr<Entry>, TopicHash> entries_;
  std::unordered_map<Topic, std::shared_ptr<Inquiry>, TopicHash> inquiries_;
  std::unordered_map<Cell, std::vector<std::unique_ptr<Record>>, CellHash> cells_;
};

}  // namespace glmhost::functions
