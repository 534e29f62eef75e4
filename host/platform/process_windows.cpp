#include <windows.h>

#include "host/platform/process.h"
// psapi.h needs windows.h before it.
#include <psapi.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "host/platform/paths.h"
#include "host/platform/windows_api.h"

namespace glmhost::platform {
namespace {

PROCESS_MEMORY_COUNTERS own_memory() {
  PROCESS_MEMORY_COUNTERS counters{};
  GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof(counters));
  return counters;
}

MEMORYSTATUSEX machine_memory() {
  MEMORYSTATUSEX status{};
  status.dwLength = sizeof(status);
  GlobalMemoryStatusEx(&status);
  return status;
}

// The rules by which a C program takes its command line apart again: backslashes count only before a quote.
void append_quoted(std::wstring& line, const std::wstring& word) {
  line += L'"';
  std::size_t backslashes = 0;
  for (const wchar_t character : word) {
    if (character == L'"') line.append(backslashes + 1, L'\\');
    backslashes = character == L'\\' ? backslashes + 1 : 0;
    line += character;
  }
  line.append(backslashes, L'\\');
  line += L'"';
}

// Only the handles named in it are inherited, whatever other threads do meanwhile.
class InheritedHandles {
 public:
  explicit InheritedHandles(std::vector<HANDLE> handles) : handles_(std::move(handles)) {
    SIZE_T size = 0;
    InitializeProcThreadAttributeList(nullptr, 1, 0, &size);
    memory_.resize(size);
    if (!InitializeProcThreadAttributeList(list(), 1, 0, &size) ||
        !UpdateProcThreadAttribute(list(), 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, handles_.data(),
                                   handles_.size() * sizeof(HANDLE), nullptr, nullptr)) {
      throw std::runtime_error("Windows refuses a list of handles for a new process: " + error_text(GetLastError()) +
                               ".");
    }
  }
  ~InheritedHandles() { DeleteProcThreadAttributeList(list()); }
  InheritedHandles(const InheritedHandles&) = delete;
  InheritedHandles& operator=(const InheritedHandles&) = delete;

  LPPROC_THREAD_ATTRIBUTE_LIST list() { return reinterpret_cast<LPPROC_THREAD_ATTRIBUTE_LIST>(memory_.data()); }

 private:
  std::vector<HANDLE> handles_;
  std::vector<char> memory_;
};

}  // namespace

std::uint32_t process_id() {
  return GetCurrentProcessId();
}

std::optional<std::uint32_t> user_id() {
  return std::nullopt;
}

bool process_is_alive(std::uint32_t pid) {
  const WindowsHandle process(OpenProcess(SYNCHRONIZE, FALSE, pid));
  if (!process) return pid != 0 && GetLastError() == ERROR_ACCESS_DENIED;
  return WaitForSingleObject(process.get(), 0) == WAIT_TIMEOUT;
}

bool ask_process_to_stop(std::uint32_t) {
  return false;
}

bool kill_process(std::uint32_t pid) {
  const WindowsHandle process(OpenProcess(PROCESS_TERMINATE | SYNCHRONIZE, FALSE, pid));
  // The id of a process that has ended stays known while somebody has a handle to it.
  return process && WaitForSingleObject(process.get(), 0) == WAIT_TIMEOUT && TerminateProcess(process.get(), 1);
}

std::filesystem::path executable_path() {
  std::wstring path(32768, L'\0');  // the longest path there is
  const DWORD size = GetModuleFileNameW(nullptr, path.data(), static_cast<DWORD>(path.size()));
  if (size == 0 || size == path.size()) {
    throw std::runtime_error("Cannot find this program's own file: " + error_text(GetLastError()) + ".");
  }
  path.resize(size);
  return path;
}

std::uint32_t spawn_detached(const std::filesystem::path& program, std::span<const std::string> arguments,
                             const std::filesystem::path& log_file) {
  const std::filesystem::path absolute = std::filesystem::absolute(program);
  UserOnlySecurity security;
  security.attributes()->bInheritHandle = TRUE;
  const WindowsHandle log(CreateFileW(log_file.c_str(), FILE_APPEND_DATA, FILE_SHARE_READ | FILE_SHARE_WRITE,
                                      security.attributes(), OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr));
  if (!log) {
    throw std::runtime_error("Cannot open the log " + to_utf8(log_file) + ": " + error_text(GetLastError()) + ".");
  }
  SECURITY_ATTRIBUTES inherited{sizeof(inherited), nullptr, TRUE};
  const WindowsHandle null(
      CreateFileW(L"NUL", GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE, &inherited, OPEN_EXISTING, 0, nullptr));

  std::wstring line;
  append_quoted(line, absolute.native());
  for (const std::string& argument : arguments) append_quoted(line += L' ', to_wide(argument));

  InheritedHandles handles({log.get(), null.get()});
  STARTUPINFOEXW startup{};
  startup.StartupInfo.cb = sizeof(startup);
  startup.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
  startup.StartupInfo.hStdInput = null.get();
  startup.StartupInfo.hStdOutput = log.get();
  startup.StartupInfo.hStdError = log.get();
  startup.lpAttributeList = handles.list();
  PROCESS_INFORMATION process{};
  if (!CreateProcessW(absolute.c_str(), line.data(), nullptr, nullptr, TRUE,
                      DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP | EXTENDED_STARTUPINFO_PRESENT, nullptr,
                      absolute.parent_path().c_str(), &startup.StartupInfo, &process)) {
    throw std::runtime_error("Cannot start " + to_utf8(absolute) + ": " + error_text(GetLastError()) + ".");
  }
  const WindowsHandle closes_process(process.hProcess);
  const WindowsHandle closes_thread(process.hThread);
  return process.dwProcessId;
}

std::uint64_t resident_memory() {
  return own_memory().WorkingSetSize;
}
std::uint64_t peak_resident_memory() {
  return own_memory().PeakWorkingSetSize;
}
std::uint64_t total_memory() {
  return machine_memory().ullTotalPhys;
}

// Memory can be free and yet not be had, when what all processes asked for reaches the commit limit.
std::uint64_t available_memory() {
  const MEMORYSTATUSEX status = machine_memory();
  return std::min(status.ullAvailPhys, status.ullAvailPageFile);
}

}  // namespace glmhost::platform
