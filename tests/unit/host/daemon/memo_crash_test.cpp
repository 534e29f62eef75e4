// What the store promised is kept, whatever kills the process and however full the disk is.
#ifndef _WIN32

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <random>

#include "host/daemon/memo_store.h"
#include "tests/unit/host/daemon/temporary_folder.h"

namespace glmhost::daemon {
namespace {

namespace fs = std::filesystem;
using Answers = std::vector<std::pair<Hash128, MemoAnswer>>;

Log::Options quiet() {
  return {.folder = {}, .to_stderr = false, .level = settings::LogLevel::error};
}

Hash128 key(std::uint64_t number) {
  return {number, number * 31};
}

MemoAnswer answer(std::uint64_t number) {
  MemoAnswer out;
  out.content = std::string(100 + number % 3000, static_cast<char>('a' + number % 26));
  out.finish_reason = "stop";
  return out;
}

// Stores groups of answers from `first` on for ever, and writes each number to `report` once the store says it is kept.
[[noreturn]] void keep_storing(const fs::path& file, std::uint64_t first, int report) {
  Log log(quiet());
  MemoStore store({.file = file, .limit_bytes = 1u << 30}, log);
  for (std::uint64_t number = first;;) {
    Answers group;
    for (std::uint64_t i = 0; i <= number % 4; ++i) group.emplace_back(key(number + i), answer(number + i));
    if (!store.store(group)) _exit(3);
    for (const auto& [stored, unused] : group) {
      if (write(report, &stored.high, sizeof stored.high) != sizeof stored.high) _exit(4);
    }
    number += group.size();
  }
}

TEST_CASE("killed with -9 again and again, the store has every answer that it reported as kept") {
  TemporaryFolder folder;
  const fs::path file = folder.path() / "memo.sqlite";
  std::mt19937 random(7);
  std::vector<std::uint64_t> reported;
  for (int round = 0; round < 30; ++round) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const std::uint64_t first = static_cast<std::uint64_t>(round) * 1'000'000;
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      close(ends[0]);
      keep_storing(file, first, ends[1]);
    }
    close(ends[1]);
    // Killed after a random number of reports, so that the moment within a transaction differs too.
    std::uint64_t number = 0;
    const std::size_t wanted = reported.size() + random() % 40;
    while (reported.size() <= wanted && read(ends[0], &number, sizeof number) == sizeof number) {
      reported.push_back(number);
    }
    usleep(random() % 3000);
    kill(child, SIGKILL);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));  // it did not give up by itself
    while (read(ends[0], &number, sizeof number) == sizeof number) reported.push_back(number);
    close(ends[0]);

    Log log(quiet());
    MemoStore store({.file = file, .limit_bytes = 1u << 30}, log);
    REQUIRE(store.problem().empty());
    std::size_t missing = 0;
    for (const std::uint64_t kept : reported) {
      const auto found = store.find(key(kept));
      if (!found || found->content != answer(kept).content) ++missing;
    }
    CHECK(missing == 0);
  }
  CHECK(reported.size() > 100);
  CHECK_FALSE(fs::exists(folder.path() / "memo.sqlite.damaged"));
}

TEST_CASE("on a full disk nothing is kept, nothing is lost, and a sentence says so") {
  TemporaryFolder folder;
  const fs::path file = folder.path() / "memo.sqlite";
  {
    Log log(quiet());
    MemoStore store({.file = file, .limit_bytes = 1u << 30}, log);
    REQUIRE(store.store(Answers{{key(1), answer(1)}}));
  }
  // A process whose files cannot grow past 200 kB stands for a disk without space; the limit dies with it.
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const rlimit limit{200'000, 200'000};
    std::signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(10);
    Log log(quiet());
    MemoStore store({.file = file, .limit_bytes = 1u << 30, .retry_after = std::chrono::milliseconds(0)}, log);
    std::vector<std::uint64_t> kept{1};
    std::uint64_t number = 1000;
    while (store.store(Answers{{key(number), answer(number)}})) {
      kept.push_back(number);
      if (++number > 2000) _exit(11);  // never full
    }
    if (store.problem().empty()) _exit(12);
    for (const std::uint64_t stored : kept) {
      if (!store.find(key(stored))) _exit(13);
    }
    // Space again.
    fs::remove(file);
    if (!store.store(Answers{{key(5), answer(5)}}) || !store.find(key(5)) || !store.problem().empty()) _exit(14);
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace glmhost::daemon

#endif
