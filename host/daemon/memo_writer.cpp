#include "host/daemon/memo_writer.h"

namespace glmhost::daemon {

void run_memo_writer(Core& core) {
  std::unique_lock lock(core.mutex);
  while (!core.ended) {
    if (core.to_store.empty()) {
      core.memo_wake.wait(lock);
      continue;
    }
    std::vector<JobId> jobs;
    std::vector<std::pair<Hash128, MemoAnswer>> answers;
    for (auto& [job, answer] : core.to_store) {
      jobs.push_back(job);
      answers.push_back(std::move(answer));
    }
    core.to_store.clear();
    lock.unlock();
    // A disk that refuses is no reason to keep the answer from anybody; the store tells about it.
    core.memo->store(answers);
    lock.lock();
    for (const JobId id : jobs) {
      if (Job* job = core.find(id)) core.finish(*job);
    }
  }
}

}  // namespace glmhost::daemon
