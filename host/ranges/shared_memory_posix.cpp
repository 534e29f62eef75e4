// Locks belong to the open file (F_OFD_*), not to the process: a daemon may hold the same segment several times.
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "host/platform/paths.h"
#include "host/platform/posix_file.h"
#include "host/platform/process.h"
#include "host/ranges/range_error.h"
#include "host/ranges/segment_name.h"
#include "host/ranges/shared_memory.h"

namespace glmhost::ranges {
namespace {

namespace fs = std::filesystem;
using platform::error_text;
using platform::PosixFile;

fs::path segment_folder() {
  if (access("/dev/shm", W_OK | X_OK) == 0) return "/dev/shm";
  fs::path folder = platform::runtime_folder() / "ranges";
  platform::make_private_folder(folder);
  return folder;
}

bool lock(int file, short type) {
  struct flock wanted {};
  wanted.l_type = type;
  wanted.l_whence = SEEK_SET;
  return fcntl(file, F_OFD_SETLK, &wanted) == 0;
}

// Whether the file of this descriptor still has its name.
bool has_name(int file) {
  struct stat status {};
  return fstat(file, &status) == 0 && status.st_nlink > 0;
}

std::size_t page_up(std::size_t size) {
  static const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (size + page - 1) / page * page;
}

}  // namespace

struct SharedMemory::State {
  std::string name;
  fs::path path;
  PosixFile file;
  std::size_t reserve = 0;
  std::size_t size = 0;
  std::byte* data = nullptr;
  int protection = PROT_READ;

  ~State() {
    if (data != nullptr) ::munmap(data, reserve);
    if (file) leave();
  }

  // The last one out removes the file. Two that leave at once may both see the other's lock at first; then the second
  // to give its own up sees none.
  void leave() {
    if (!lock(file.get(), F_WRLCK)) {
      lock(file.get(), F_UNLCK);
      if (!lock(file.get(), F_WRLCK)) return;
    }
    if (has_name(file.get())) unlink(path.c_str());
  }

  void map() {
    if (data != nullptr || reserve == 0) return;
    void* const address = mmap(nullptr, reserve, protection, MAP_SHARED | MAP_NORESERVE, file.get(), 0);
    if (address == MAP_FAILED) {
      throw RangeError("A range could not be mapped into memory: " + error_text(errno) + ". Take a smaller range.");
    }
    data = static_cast<std::byte*>(address);
  }
};

SharedMemory::SharedMemory(std::unique_ptr<State> state) : state_(std::move(state)) {}
SharedMemory::SharedMemory(SharedMemory&& other) noexcept = default;
SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept = default;
SharedMemory::~SharedMemory() = default;

std::size_t SharedMemory::most_reserve() {
  return std::size_t{1} << (sizeof(void*) == 8 ? 36 : 28);
}

SharedMemory SharedMemory::create(std::size_t reserve) {
  const fs::path folder = segment_folder();
  for (;;) {
    auto state = std::make_unique<State>();
    state->name = make_segment_name(platform::user_id().value_or(0), platform::process_id());
    state->path = folder / state->name;
    state->reserve = page_up(reserve);
    state->protection = PROT_READ | PROT_WRITE;
    PosixFile file(::open(state->path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file && errno == EEXIST) continue;
    if (!file || fchmod(file.get(), 0600) != 0) {
      throw RangeError("Shared memory for a range cannot be made in " + platform::to_utf8(folder) + ": " +
                       error_text(errno) + ".");
    }
    // A sweep may take a file for left behind that has no lock yet.
    if (!lock(file.get(), F_RDLCK) || !has_name(file.get())) continue;
    state->file = std::move(file);
    return SharedMemory(std::move(state));
  }
}

namespace {

// Opens a segment that another process made, and says how large it is.
PosixFile open_checked(const fs::path& path, const std::string& name, std::size_t& size) {
  PosixFile file(::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file) {
    throw RangeError(errno == ENOENT ? "The range " + name + " is not there any more: its owner has ended."
                                     : "The range " + name + " cannot be opened: " + error_text(errno) + ".");
  }
  struct stat status {};
  if (fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
      (status.st_mode & 0077) != 0) {
    throw RangeError("The range " + name + " is not trusted: it is no file of this user alone.");
  }
  if (!lock(file.get(), F_RDLCK) || !has_name(file.get())) {
    throw RangeError("The range " + name + " is not there any more: its owner has ended.");
  }
  if (fstat(file.get(), &status) != 0) throw RangeError("The range " + name + " cannot be read.");
  size = static_cast<std::size_t>(status.st_size);
  return file;
}

}  // namespace

SharedMemory SharedMemory::open(std::string_view name) {
  if (!is_segment_name(name)) throw RangeError("That is no name of a range.");
  auto state = std::make_unique<State>();
  state->name = name;
  state->path = segment_folder() / state->name;
  state->file = open_checked(state->path, state->name, state->size);
  state->reserve = state->size;
  state->map();
  return SharedMemory(std::move(state));
}

SharedMemory SharedMemory::open_for_writing(std::string_view name, std::size_t reserve) {
  if (!is_segment_name(name)) throw RangeError("That is no name of a range.");
  auto state = std::make_unique<State>();
  state->name = name;
  state->path = segment_folder() / state->name;
  state->file = open_checked(state->path, state->name, state->size);
  state->reserve = page_up(std::max(reserve, state->size));
  state->protection = PROT_READ | PROT_WRITE;
  state->map();
  return SharedMemory(std::move(state));
}

const std::string& SharedMemory::name() const {
  return state_->name;
}
std::byte* SharedMemory::data() {
  return state_->data;
}
const std::byte* SharedMemory::data() const {
  return state_->data;
}
std::size_t SharedMemory::size() const {
  return state_->size;
}

void SharedMemory::commit(std::size_t size) {
  State& state = *state_;
  if (size <= state.size) return;
  size = page_up(size);
  if (size > state.reserve) throw RangeError("The range is too large to be handed over. Take a smaller one.");
  state.map();
  // A file that is only made longer would end the program with a signal where the memory runs out.
  const int error =
      posix_fallocate(state.file.get(), static_cast<off_t>(state.size), static_cast<off_t>(size - state.size));
  if (error != 0) {
    throw RangeError("There is not enough shared memory for a range of " + std::to_string(size >> 20) +
                     " MiB: " + error_text(error) + ". Take a smaller range.");
  }
#ifdef MADV_POPULATE_WRITE
  // All pages at once instead of a fault for each; older systems do not know it, and then the faults come.
  madvise(state.data + state.size, size - state.size, MADV_POPULATE_WRITE);
#endif
  state.size = size;
}

namespace {

template <class Action>
void for_each_segment(const Action& action) {
  const fs::path folder = segment_folder();
  DIR* const opened = opendir(folder.c_str());
  if (opened == nullptr) return;
  while (const dirent* const entry = readdir(opened)) {
    if (is_segment_name(entry->d_name)) action(folder / entry->d_name);
  }
  closedir(opened);
}

PosixFile open_own(const fs::path& path) {
  PosixFile file(::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (file && (fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid())) file.reset();
  return file;
}

}  // namespace

std::size_t sweep() {
  std::size_t removed = 0;
  for_each_segment([&](const fs::path& path) {
    const PosixFile file = open_own(path);
    if (file && lock(file.get(), F_WRLCK) && has_name(file.get()) && unlink(path.c_str()) == 0) ++removed;
  });
  return removed;
}

std::size_t count_segments() {
  std::size_t count = 0;
  for_each_segment([&](const fs::path& path) { count += open_own(path) ? 1 : 0; });
  return count;
}

}  // namespace glmhost::ranges
