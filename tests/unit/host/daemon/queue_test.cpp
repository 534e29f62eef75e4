#include "host/daemon/queue.h"

#include <doctest/doctest.h>

#include <deque>
#include <random>
#include <vector>

namespace glmhost::daemon {
namespace {

constexpr LaneId kLane = 7;

Queue::Ticket ticket(JobId job, PeerId client, Priority priority = Priority::interactive, LaneId lane = kLane) {
  return {job, client, priority, lane};
}

std::vector<JobId> drain(Queue& queue, LaneId lane = kLane) {
  std::vector<JobId> order;
  while (const auto job = queue.next(lane)) {
    order.push_back(*job);
    queue.take(*job);
  }
  return order;
}

using Order = std::vector<JobId>;

TEST_CASE("clients take turns, and each one's own jobs keep their order") {
  Queue queue;
  for (JobId job = 1; job <= 4; ++job) queue.push(ticket(job, 100));
  queue.push(ticket(5, 200));
  queue.push(ticket(6, 200));
  queue.push(ticket(7, 300));
  CHECK(queue.size() == 7);
  CHECK(drain(queue) == Order{1, 5, 7, 2, 6, 3, 4});
  CHECK(queue.size() == 0);
}

TEST_CASE("a client that comes back does not jump the others") {
  Queue queue;
  queue.push(ticket(1, 100));
  queue.push(ticket(2, 200));
  queue.push(ticket(3, 200));
  queue.take(*queue.next(kLane));
  queue.push(ticket(4, 100));  // had its turn: behind client 200
  CHECK(drain(queue) == Order{2, 4, 3});
}

TEST_CASE("interactive work comes before batch work, whoever asks") {
  Queue queue;
  queue.push(ticket(1, 100, Priority::batch));
  queue.push(ticket(2, 200, Priority::batch));
  queue.push(ticket(3, 100));
  queue.push(ticket(4, 100));
  CHECK(queue.next(kLane, Priority::batch) == 1);
  CHECK(drain(queue) == Order{3, 4, 1, 2});
}

TEST_CASE("lanes do not see each other") {
  Queue queue;
  queue.push(ticket(1, 100, Priority::interactive, 1));
  queue.push(ticket(2, 100, Priority::batch, 2));
  CHECK(queue.next(2) == 2);
  CHECK(queue.size(1) == 1);
  CHECK(queue.size(3) == 0);
  CHECK_FALSE(queue.next(3).has_value());
  CHECK(drain(queue, 1) == Order{1});
  CHECK(queue.size() == 1);
}

TEST_CASE("a job that gave way is the next of its priority") {
  Queue queue;
  queue.push(ticket(1, 100, Priority::batch));
  queue.push(ticket(2, 200, Priority::batch));
  queue.push(ticket(3, 100, Priority::batch));
  queue.take(1);
  queue.put_back(ticket(1, 100, Priority::batch));
  CHECK(drain(queue) == Order{1, 2, 3});
  queue.put_back(ticket(9, 900, Priority::batch));
  CHECK(drain(queue) == Order{9});
}

TEST_CASE("a cancelled job leaves the round as it was") {
  Queue queue;
  queue.push(ticket(1, 100));
  queue.push(ticket(2, 200));
  queue.push(ticket(3, 200));
  CHECK(queue.remove(2));
  CHECK_FALSE(queue.remove(2));
  CHECK(drain(queue) == Order{1, 3});
  CHECK_FALSE(queue.remove(1));
}

TEST_CASE("promotion and a change of client move a waiting job only") {
  Queue queue;
  queue.push(ticket(1, 100, Priority::batch));
  queue.push(ticket(2, 100, Priority::batch));
  queue.push(ticket(3, 200));
  CHECK(queue.promote(2));
  CHECK(queue.promote(2));  // already interactive
  CHECK(queue.change_client(3, 300));
  CHECK(drain(queue) == Order{2, 3, 1});
  CHECK_FALSE(queue.promote(1));
  CHECK_FALSE(queue.change_client(1, 5));
}

TEST_CASE("ahead() counts exactly the jobs that are served before, on random queues") {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    Queue queue;
    JobId last = 0;
    for (int action = 0; action < 60; ++action) {
      if (random() % 4 == 0) {
        if (const auto job = queue.next(kLane)) queue.take(*job);
      } else if (random() % 8 == 0 && last > 0) {
        queue.remove(random() % last + 1);
      } else {
        queue.push(ticket(++last, random() % 5, random() % 3 == 0 ? Priority::batch : Priority::interactive));
      }
    }
    std::vector<std::pair<JobId, std::size_t>> promised;
    for (JobId job = 1; job <= last; ++job) {
      if (const auto ahead = queue.ahead(job)) promised.emplace_back(job, *ahead);
    }
    const Order order = drain(queue);
    REQUIRE(order.size() == promised.size());
    for (const auto& [job, ahead] : promised) {
      REQUIRE(ahead < order.size());
      CHECK(order[ahead] == job);
    }
  }
}

TEST_CASE("the number of open requests and their bytes are bounded") {
  Admission admission({4, 100});
  CHECK(admission.admit(1, Priority::interactive, 60) == Admission::Verdict::admitted);
  CHECK(admission.admit(2, Priority::interactive, 50) == Admission::Verdict::bytes);
  CHECK(admission.admit(2, Priority::interactive, 40) == Admission::Verdict::admitted);
  CHECK(admission.admit(3, Priority::interactive, 1) == Admission::Verdict::bytes);
  admission.release_bytes(40);
  CHECK(admission.admit(3, Priority::interactive, 1) == Admission::Verdict::admitted);
  CHECK(admission.admit(4, Priority::interactive, 1) == Admission::Verdict::admitted);
  CHECK(admission.admit(5, Priority::interactive, 0) == Admission::Verdict::full);
  CHECK(admission.open() == 4);
  admission.release(2, Priority::interactive, 0);
  CHECK(admission.admit(5, Priority::interactive, 0) == Admission::Verdict::admitted);
  CHECK(admission.bytes() == 62);
}

TEST_CASE("a single request larger than the byte limit runs when it is alone") {
  Admission admission({4, 100});
  CHECK(admission.admit(1, Priority::interactive, 5000) == Admission::Verdict::admitted);
  CHECK(admission.admit(2, Priority::interactive, 1) == Admission::Verdict::bytes);
  admission.release(1, Priority::interactive, 5000);
  CHECK(admission.bytes() == 0);
  CHECK(admission.admit(2, Priority::interactive, 1) == Admission::Verdict::admitted);
}

TEST_CASE("neither one client nor batch work can take every place") {
  Admission admission({16, 1000});
  for (int i = 0; i < 12; ++i) REQUIRE(admission.admit(1, Priority::batch, 1) == Admission::Verdict::admitted);
  CHECK(admission.admit(1, Priority::batch, 1) == Admission::Verdict::full_for_client);
  CHECK(admission.admit(1, Priority::interactive, 1) == Admission::Verdict::full_for_client);
  CHECK(admission.admit(2, Priority::batch, 1) == Admission::Verdict::admitted);
  CHECK(admission.admit(2, Priority::batch, 1) == Admission::Verdict::admitted);
  CHECK(admission.admit(2, Priority::batch, 1) == Admission::Verdict::full_for_batch);
  CHECK(admission.admit(2, Priority::interactive, 1) == Admission::Verdict::admitted);
  for (int i = 0; i < 12; ++i) admission.release(1, Priority::batch, 1);
  CHECK(admission.admit(1, Priority::batch, 1) == Admission::Verdict::admitted);

  Admission one({1, 1000});
  CHECK(one.admit(1, Priority::batch, 1) == Admission::Verdict::admitted);
  CHECK(one.admit(2, Priority::interactive, 1) == Admission::Verdict::full);
}

}  // namespace
}  // namespace glmhost::daemon
