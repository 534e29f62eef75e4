#include "excel-addin/functions/answer_book.h"

#include <algorithm>

namespace glmhost::functions {
namespace {

constexpr std::size_t kMostEntries = 400'000;  // done ones beyond are forgotten: the daemon still knows their answers
constexpr std::size_t kMostRecords = 16;       // of one cell

}  // namespace

Record* AnswerBook::record(const Cell& cell, FunctionId function, const Topic* topic, std::uint64_t calculation) {
  if (!cell.is_known()) return nullptr;
  auto& records = cells_[cell];
  Record* found = nullptr;
  for (const auto& record : records) {
    if (record->function == function && topic != nullptr && record->entry && record->entry->topic == *topic) {
      found = record.get();
    }
  }
  // The formula's arguments have changed: what it showed before stays until the new answer is there.
  for (const auto& record : records) {
    if (found == nullptr && record->function == function && record->seen < calculation) found = record.get();
  }
  if (found == nullptr) {
    if (records.size() == kMostRecords) records.erase(records.begin());
    found = records.emplace_back(std::make_unique<Record>()).get();
    found->function = function;
  }
  // What an earlier form of the formula asked with other functions.
  std::erase_if(records, [&](const auto& record) {
    return record.get() != found && record->function != function && record->seen + 1 < calculation;
  });
  found->seen = calculation;
  return found;
}

std::shared_ptr<Entry> AnswerBook::find(const Topic& topic) const {
  const auto found = entries_.find(topic);
  return found == entries_.end() ? nullptr : found->second;
}

std::shared_ptr<Inquiry> AnswerBook::inquiry(const Topic& key, std::vector<std::shared_ptr<Inquiry>>& fresh) {
  std::shared_ptr<Inquiry>& place = inquiries_[key];
  const bool ended = place && (place->state == Inquiry::State::failed || place->state == Inquiry::State::cancelled);
  if (!place || ended) {
    place = std::make_shared<Inquiry>();
    place->key = key;
    fresh.push_back(place);
  }
  return place;
}

void AnswerBook::make_room() {
  if (entries_.size() < kMostEntries) return;
  std::erase_if(entries_, [](const auto& entry) {
    return entry.second.use_count() == 1 && entry.second->state != functions::State::pending;
  });
  std::erase_if(inquiries_, [](const auto& inquiry) { return inquiry.second.use_count() == 1; });
}

std::shared_ptr<Entry> AnswerBook::add(const Topic& topic, Plan plan, std::vector<std::shared_ptr<Inquiry>>& fresh) {
  make_room();
  auto entry = std::make_shared<Entry>();
  entry->topic = topic;
  entry->plan = std::move(plan);
  for (const auto& question : entry->plan.questions) {
    std::shared_ptr<Inquiry> asked = inquiry(question->key, fresh);
    if (!asked->question) asked->question = question;
    if (asked->state != Inquiry::State::done) {
      asked->waiting.push_back(entry);
      ++entry->left;
    }
    entry->inquiries.push_back(std::move(asked));
  }
  entries_[topic] = entry;
  if (entry->left == 0) complete(*entry);
  return entry;
}

std::shared_ptr<Entry> AnswerBook::add_table(const Topic& topic, std::unique_ptr<TableWork> work,
                                             std::vector<std::shared_ptr<Inquiry>>& fresh) {
  make_room();
  auto entry = std::make_shared<Entry>();
  entry->topic = topic;
  std::shared_ptr<Inquiry> asked = std::make_shared<Inquiry>();
  asked->key = topic;
  asked->table = std::move(work);
  asked->waiting.push_back(entry);
  entry->left = 1;
  fresh.push_back(asked);
  entry->inquiries.push_back(std::move(asked));
  entries_[topic] = entry;
  return entry;
}

void AnswerBook::ask_again(Entry& entry, std::vector<std::shared_ptr<Inquiry>>& fresh) {
  const std::shared_ptr<Entry> self = entries_.at(entry.topic);
  entry.state = functions::State::pending;
  entry.sentence.clear();
  entry.note.clear();
  entry.says_missing = false;
  entry.left = 0;
  for (std::size_t i = 0; i < entry.inquiries.size(); ++i) {
    std::shared_ptr<Inquiry>& asked = entry.inquiries[i];
    if (asked->state == Inquiry::State::done) continue;
    if (asked->state == Inquiry::State::failed || asked->state == Inquiry::State::cancelled) {
      std::shared_ptr<Inquiry> next = inquiry(asked->key, fresh);
      next->question = asked->question;
      asked = std::move(next);
    }
    asked->waiting.push_back(self);
    ++entry.left;
  }
  ++entry.revision;
  if (entry.left == 0) complete(entry);
}

void AnswerBook::complete(Entry& entry) {
  std::vector<Value> answers;
  std::size_t failed = 0;
  entry.sentence.clear();  // that there was no daemon
  entry.says_missing = false;
  for (const auto& asked : entry.inquiries) {
    answers.push_back(asked->value);
    if (!asked->note.empty() && entry.note.find(asked->note) == std::string::npos && entry.note.size() < 1000) {
      entry.note += (entry.note.empty() ? "" : " ") + asked->note;
    }
    if (asked->state == Inquiry::State::done) continue;
    ++failed;
    if (entry.sentence.empty()) entry.sentence = asked->sentence;
  }
  if (failed > 0 && entry.inquiries.size() > 1) {
    entry.sentence = std::to_string(failed) + " of " + std::to_string(entry.inquiries.size()) +
                     " values failed. The first: " + entry.sentence;
  }
  entry.state = failed > 0 ? functions::State::failed : functions::State::done;
  if (entry.inquiries.size() == 1 && entry.inquiries[0]->table) {
    entry.segment = entry.inquiries[0]->segment;
    entry.value = failed > 0 ? answers[0] : Value();
    if (failed == 0) entry.inquiries[0]->table->tables.clear();  // the ranges are not needed any more
  } else {
    entry.value = assemble(entry.plan, answers);
  }
}

void AnswerBook::settle(Inquiry& inquiry, std::vector<std::shared_ptr<Entry>>& changed) {
  for (const std::weak_ptr<Entry>& waiting : std::exchange(inquiry.waiting, {})) {
    const std::shared_ptr<Entry> entry = waiting.lock();
    if (!entry || entry->state == functions::State::cancelled || entry->left == 0) continue;
    if (--entry->left > 0) continue;
    complete(*entry);
    ++entry->revision;
    changed.push_back(entry);
  }
}

void AnswerBook::cancel(Entry& entry) {
  entry.state = functions::State::cancelled;
  entry.value = formula::ErrorCode::not_available;
  entry.sentence = "The question was cancelled. Calculate the cell again (F2, Enter) to ask it once more.";
  entry.left = 0;
  ++entry.revision;
}

std::vector<const Record*> AnswerBook::latest(const Cell& cell) const {
  std::vector<const Record*> records;
  const auto found = cells_.find(cell);
  if (found == cells_.end()) return records;
  std::uint64_t last = 0;
  for (const auto& record : found->second) last = std::max(last, record->seen);
  for (const auto& record : found->second) {
    if (record->seen == last) records.push_back(record.get());
  }
  return records;
}

std::string AnswerBook::status_of(const Cell& cell) const {
  const std::vector<const Record*> records = latest(cell);
  if (records.empty()) return "none: the cell has asked nothing since it was opened";
  using functions::State;
  State state = State::done;
  std::string note;
  const auto rank = [](State one) {
    return one == State::failed ? 3 : one == State::cancelled ? 2 : one == State::pending ? 1 : 0;
  };
  for (const Record* record : records) {
    const State one = record->entry ? record->entry->state : State::failed;
    if (rank(one) > rank(state)) state = one;
    if (!record->entry) continue;
    if (record->entry->says_missing && one == State::pending) note = "waiting for the daemon";
    if (!record->entry->note.empty()) note += (note.empty() ? "" : " ") + record->entry->note;
  }
  return std::string(name(state)) + (note.empty() ? "" : ": " + note);
}

std::string AnswerBook::error_of(const Cell& cell) const {
  for (const Record* record : latest(cell)) {
    const std::string& sentence = record->entry ? record->entry->sentence : record->sentence;
    if (!sentence.empty()) return sentence;
  }
  return {};
}

std::shared_ptr<Entry> AnswerBook::pending_entry_of(const Cell& cell) const {
  for (const Record* record : latest(cell)) {
    if (record->entry && record->entry->state == functions::State::pending) return record->entry;
  }
  return nullptr;
}

}  // namespace glmhost::functions
