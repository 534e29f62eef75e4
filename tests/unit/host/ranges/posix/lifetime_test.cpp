#include <doctest/doctest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "host/ranges/writer.h"

using namespace glmhost::ranges;

namespace {

std::filesystem::path file_of(const std::string& name) {
  return std::filesystem::path("/dev/shm") / name;
}

Segment small() {
  Writer writer(1, 1);
  writer.column(0).add_number(42);
  return writer.seal();
}

}  // namespace

TEST_CASE("a segment goes with its last user, whoever that is") {
  std::optional<Segment> made = small();
  const std::string name = made->name();
  CHECK(std::filesystem::exists(file_of(name)));
  struct stat status {};
  REQUIRE(stat(file_of(name).c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  std::optional<Segment> opened = Segment::open(name);
  made.reset();
  CHECK(std::filesystem::exists(file_of(name)));
  CHECK(opened->column(0).number(0) == 42);
  opened.reset();
  CHECK_FALSE(std::filesystem::exists(file_of(name)));
  CHECK_THROWS_AS(Segment::open(name), RangeError);
}

TEST_CASE("what a killed process leaves is swept, what somebody uses is not") {
  const Segment kept = small();
  int ends[2] = {};
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    const Segment segment = small();
    [[maybe_unused]] const ssize_t written = write(ends[1], segment.name().data(), segment.name().size());
    close(ends[1]);
    pause();
    _exit(0);
  }
  close(ends[1]);
  std::string name(200, '\0');
  const ssize_t size = read(ends[0], name.data(), name.size());
  close(ends[0]);
  REQUIRE(size > 0);
  name.resize(static_cast<std::size_t>(size));
  sweep();
  CHECK(std::filesystem::exists(file_of(name)));  // it lives
  std::optional<Segment> opened = Segment::open(name);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  sweep();
  CHECK(opened->column(0).number(0) == 42);  // we use it
  CHECK(std::filesystem::exists(file_of(name)));
  opened.reset();
  CHECK_FALSE(std::filesystem::exists(file_of(name)));
  CHECK(std::filesystem::exists(file_of(kept.name())));

  const pid_t second = fork();
  if (second == 0) {
    const Segment segment = small();
    std::ofstream(file_of("glmhost-test-name")) << segment.name();
    kill(getpid(), SIGKILL);
  }
  waitpid(second, nullptr, 0);
  std::ifstream(file_of("glmhost-test-name")) >> name;
  std::filesystem::remove(file_of("glmhost-test-name"));
  CHECK(std::filesystem::exists(file_of(name)));
  CHECK(sweep() >= 1);
  CHECK_FALSE(std::filesystem::exists(file_of(name)));
}

TEST_CASE("files that are not safe are not opened") {
  CHECK_THROWS_AS(SharedMemory::open("../../etc/passwd"), RangeError);
  CHECK_THROWS_AS(SharedMemory::open(""), RangeError);
  const std::string name = "glmhost-0-1-0123456789abcdef";
  CHECK_THROWS_AS(SharedMemory::open(name), RangeError);
  std::ofstream(file_of(name)) << "x";
  chmod(file_of(name).c_str(), 0644);
  CHECK_THROWS_AS(SharedMemory::open(name), RangeError);  // open to others
  std::filesystem::remove(file_of(name));
  std::filesystem::create_symlink("/etc/passwd", file_of(name));
  CHECK_THROWS_AS(SharedMemory::open(name), RangeError);
  std::filesystem::remove(file_of(name));
}

TEST_CASE("more than was reserved, or than there is, is an error and no signal") {
  SharedMemory memory = SharedMemory::create(1 << 20);
  memory.commit(1 << 20);
  CHECK_THROWS_AS(memory.commit((1 << 20) + 1), RangeError);
  std::error_code ignored;
  const auto space = std::filesystem::space("/dev/shm", ignored);
  SharedMemory large = SharedMemory::create(static_cast<std::size_t>(space.capacity) + (1u << 30));
  CHECK_THROWS_AS(large.commit(static_cast<std::size_t>(space.capacity) + (1u << 29)), RangeError);
}
