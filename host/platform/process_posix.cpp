#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <limits>
#include <stdexcept>

#include "host/platform/control_group.h"
#include "host/platform/posix_file.h"
#include "host/platform/process.h"

namespace glmhost::platform {
namespace {

// pid_t is signed, and kill() gives 0 and negative ids a meaning of their own: whole groups of processes.
bool is_one_process(std::uint32_t pid) {
  return pid > 0 && pid <= static_cast<std::uint32_t>(std::numeric_limits<pid_t>::max());
}

bool is_zombie(std::uint32_t pid) {
  std::ifstream stream("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(stream, text);
  const auto end_of_name = text.rfind(')');  // the name may hold spaces and brackets
  if (end_of_name == std::string::npos || end_of_name + 2 >= text.size()) return false;
  const char state = text[end_of_name + 2];
  return state == 'Z' || state == 'X';
}

// A "Name:   1234 kB" line of a file in /proc, in bytes.
std::uint64_t read_kilobytes(const char* file, const std::string& name) {
  std::ifstream stream(file);
  for (std::string word; stream >> word;) {
    std::uint64_t number = 0;
    if (word == name && stream >> number) return number * 1024;
    stream.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return 0;
}

}  // namespace

std::uint32_t process_id() {
  return static_cast<std::uint32_t>(getpid());
}

std::optional<std::uint32_t> user_id() {
  return geteuid();
}

bool process_is_alive(std::uint32_t pid) {
  if (!is_one_process(pid)) return false;
  if (kill(static_cast<pid_t>(pid), 0) != 0 && errno != EPERM) return false;
  return !is_zombie(pid);
}

bool ask_process_to_stop(std::uint32_t pid) {
  return is_one_process(pid) && kill(static_cast<pid_t>(pid), SIGTERM) == 0;
}

bool kill_process(std::uint32_t pid) {
  return is_one_process(pid) && kill(static_cast<pid_t>(pid), SIGKILL) == 0;
}

std::filesystem::path executable_path() {
  std::error_code error;
  std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) throw std::runtime_error("Cannot find this program's own file: " + error.message() + ".");
  // After an upgrade the running file is gone, but its successor lies at the same place.
  constexpr std::string_view kDeleted = " (deleted)";
  const std::string& text = path.native();
  if (text.ends_with(kDeleted) && !std::filesystem::exists(path, error)) {
    return text.substr(0, text.size() - kDeleted.size());
  }
  return path;
}

std::uint64_t resident_memory() {
  std::ifstream stream("/proc/self/statm");
  std::uint64_t size = 0;
  std::uint64_t resident = 0;
  stream >> size >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

// Not getrusage(): its figure begins with the size of the process that forked this one.
std::uint64_t peak_resident_memory() {
  return read_kilobytes("/proc/self/status", "VmHWM:");
}

std::uint64_t total_memory() {
  return std::min(read_kilobytes("/proc/meminfo", "MemTotal:"), control_group_memory("/").limit);
}

std::uint64_t available_memory() {
  return std::min(read_kilobytes("/proc/meminfo", "MemAvailable:"), control_group_memory("/").available);
}

}  // namespace glmhost::platform
