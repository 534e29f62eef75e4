#include "host/daemon/queue.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace glmhost::daemon {

Queue::Round::iterator Queue::find_line(Round& round, PeerId client) {
  return std::find_if(round.begin(), round.end(), [&](const Line& line) { return line.client == client; });
}

void Queue::push(const Ticket& ticket) {
  Round& round = rounds_[{ticket.lane, ticket.priority}];
  auto line = find_line(round, ticket.client);
  if (line == round.end()) line = round.insert(round.end(), Line{ticket.client, {}});
  const auto job = line->jobs.insert(line->jobs.end(), ticket.job);
  places_.emplace(ticket.job, Place{ticket, line, job});
}

void Queue::put_back(const Ticket& ticket) {
  Round& round = rounds_[{ticket.lane, ticket.priority}];
  auto line = find_line(round, ticket.client);
  if (line == round.end()) {
    line = round.insert(round.begin(), Line{ticket.client, {}});
  } else {
    round.splice(round.begin(), round, line);
  }
  const auto job = line->jobs.insert(line->jobs.begin(), ticket.job);
  places_.emplace(ticket.job, Place{ticket, line, job});
}

std::optional<JobId> Queue::next(LaneId lane, Priority priority) const {
  const auto round = rounds_.find({lane, priority});
  if (round == rounds_.end()) return std::nullopt;
  return round->second.front().jobs.front();  // neither is ever empty: extract() sees to it
}

std::optional<JobId> Queue::next(LaneId lane) const {
  const std::optional<JobId> interactive = next(lane, Priority::interactive);
  return interactive ? interactive : next(lane, Priority::batch);
}

// Takes the job out and drops a line and a round that became empty.
void Queue::extract(JobId job) {
  const auto found = places_.find(job);
  const Place place = found->second;
  places_.erase(found);
  place.line->jobs.erase(place.job);
  const auto round = rounds_.find({place.ticket.lane, place.ticket.priority});
  if (place.line->jobs.empty()) round->second.erase(place.line);
  if (round->second.empty()) rounds_.erase(round);
}

void Queue::take(JobId job) {
  const auto found = places_.find(job);
  if (found == places_.end()) return;
  Round& round = rounds_.at({found->second.ticket.lane, found->second.ticket.priority});
  round.splice(round.end(), round, found->second.line);
  extract(job);
}

bool Queue::remove(JobId job) {
  if (!places_.contains(job)) return false;
  extract(job);
  return true;
}

bool Queue::promote(JobId job) {
  const auto found = places_.find(job);
  if (found == places_.end()) return false;
  Ticket ticket = found->second.ticket;
  if (ticket.priority == Priority::interactive) return true;
  extract(job);
  ticket.priority = Priority::interactive;
  push(ticket);
  return true;
}

bool Queue::change_client(JobId job, PeerId client) {
  const auto found = places_.find(job);
  if (found == places_.end()) return false;
  Ticket ticket = found->second.ticket;
  extract(job);
  ticket.client = client;
  push(ticket);
  return true;
}

std::optional<std::size_t> Queue::ahead(JobId job) const {
  const auto found = places_.find(job);
  if (found == places_.end()) return std::nullopt;
  const Ticket& ticket = found->second.ticket;
  const std::list<JobId>::const_iterator place = found->second.job;
  const auto own = static_cast<std::size_t>(std::distance(found->second.line->jobs.cbegin(), place));
  std::size_t count = own;
  bool before_own = true;
  for (const Line& line : rounds_.at({ticket.lane, ticket.priority})) {
    if (line.client == ticket.client) {
      before_own = false;
    } else {
      // `own` rounds are complete before this job's round, in which the lines in front have one more turn.
      count += std::min(line.jobs.size(), own + (before_own ? 1 : 0));
    }
  }
  if (ticket.priority == Priority::batch) {
    const auto interactive = rounds_.find({ticket.lane, Priority::interactive});
    if (interactive != rounds_.end()) {
      for (const Line& line : interactive->second) count += line.jobs.size();
    }
  }
  return count;
}

std::size_t Queue::size(LaneId lane) const {
  std::size_t count = 0;
  for (auto round = rounds_.lower_bound({lane, Priority::interactive}); round != rounds_.end(); ++round) {
    if (round->first.first != lane) break;
    for (const Line& line : round->second) count += line.jobs.size();
  }
  return count;
}

std::size_t Admission::client_limit() const {
  return std::max<std::size_t>(1, limits_.requests - limits_.requests / 4);
}

std::size_t Admission::batch_limit() const {
  return std::max<std::size_t>(1, limits_.requests - limits_.requests / 8);
}

Admission::Verdict Admission::admit(PeerId client, Priority priority, std::uint64_t bytes) {
  if (open_ >= limits_.requests) return Verdict::full;
  if (priority == Priority::batch && batch_ >= batch_limit()) return Verdict::full_for_batch;
  if (open_ > 0 && (bytes_ >= limits_.bytes || bytes > limits_.bytes - bytes_)) return Verdict::bytes;
  std::size_t& of_client = by_client_[client];
  if (of_client >= client_limit()) return Verdict::full_for_client;
  ++of_client;
  ++open_;
  if (priority == Priority::batch) ++batch_;
  bytes_ += bytes;
  return Verdict::admitted;
}

void Admission::release(PeerId client, Priority priority, std::uint64_t bytes) {
  const auto of_client = by_client_.find(client);
  if (of_client != by_client_.end() && --of_client->second == 0) by_client_.erase(of_client);
  --open_;
  if (priority == Priority::batch) --batch_;
  bytes_ -= bytes;
}

}  // namespace glmhost::daemon
