#include <windows.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

#include "host/model_store/child_process.h"
#include "host/model_store/pull_progress.h"
#include "host/platform/paths.h"

namespace glmhost::model_store {
namespace {

constexpr std::size_t kKeptOutput = 64u << 10;

struct Handle {
  HANDLE value = nullptr;
  ~Handle() { close(); }
  void close() {
    if (value != nullptr && value != INVALID_HANDLE_VALUE) CloseHandle(value);
    value = nullptr;
  }
};

// The quoting that CommandLineToArgvW undoes: backslashes count only before a quotation mark.
std::wstring quoted(const std::wstring& argument) {
  std::wstring out = L"\"";
  std::size_t backslashes = 0;
  for (const wchar_t c : argument) {
    if (c == L'\\') {
      ++backslashes;
      continue;
    }
    out.append(c == L'"' ? 2 * backslashes + 1 : backslashes, L'\\');
    backslashes = 0;
    out += c;
  }
  out.append(2 * backslashes, L'\\');
  return out + L"\"";
}

// The block that CreateProcessW takes: NAME=VALUE, each with a zero behind it, and one more at the end.
std::wstring environment_with(const std::vector<std::pair<std::string, std::string>>& more) {
  std::wstring out;
  const auto wide = [](const std::string& text) { return platform::path_from_utf8(text).wstring(); };
  wchar_t* const block = GetEnvironmentStringsW();
  for (const wchar_t* entry = block; entry != nullptr && *entry != 0; entry += std::wstring_view(entry).size() + 1) {
    const std::wstring_view text(entry);
    const bool replaced = std::any_of(more.begin(), more.end(), [&](const auto& variable) {
      const std::wstring name = wide(variable.first);
      return text.size() > name.size() && text[name.size()] == L'=' &&
             CompareStringOrdinal(text.data(), static_cast<int>(name.size()), name.data(),
                                  static_cast<int>(name.size()), TRUE) == CSTR_EQUAL;
    });
    if (!replaced) out.append(text).push_back(L'\0');
  }
  if (block != nullptr) FreeEnvironmentStringsW(block);
  for (const auto& [name, value] : more) out.append(wide(name) + L"=" + wide(value)).push_back(L'\0');
  out.push_back(L'\0');
  return out;
}

}  // namespace

std::optional<ProcessResult> run_process(const ProcessRequest& request) {
  const std::vector<std::string>& arguments = request.arguments;
  SECURITY_ATTRIBUTES inherit{sizeof(SECURITY_ATTRIBUTES), nullptr, TRUE};
  Handle read_end, write_end, empty, job;
  empty.value =
      CreateFileW(L"NUL", GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE, &inherit, OPEN_EXISTING, 0, nullptr);
  if (!CreatePipe(&read_end.value, &write_end.value, &inherit, 0) ||
      !SetHandleInformation(read_end.value, HANDLE_FLAG_INHERIT, 0)) {
    throw std::runtime_error("No pipe can be made.");
  }
  std::wstring command;
  for (const std::string& argument : arguments) {
    command += (command.empty() ? L"" : L" ") + quoted(platform::path_from_utf8(argument).wstring());
  }
  STARTUPINFOW start{};
  start.cb = sizeof(start);
  start.dwFlags = STARTF_USESTDHANDLES;
  start.hStdInput = empty.value;
  start.hStdOutput = write_end.value;
  start.hStdError = write_end.value;
  PROCESS_INFORMATION info{};
  std::wstring environment = environment_with(request.environment);
  if (!CreateProcessW(nullptr, command.data(), nullptr, nullptr, TRUE,
                      CREATE_NO_WINDOW | CREATE_SUSPENDED | CREATE_UNICODE_ENVIRONMENT, environment.data(), nullptr,
                      &start, &info)) {
    if (GetLastError() == ERROR_FILE_NOT_FOUND) return std::nullopt;
    throw std::runtime_error(arguments[0] + " cannot be started (Windows error " + std::to_string(GetLastError()) +
                             ").");
  }
  const Handle process{info.hProcess};
  const Handle thread{info.hThread};
  job.value = CreateJobObjectW(nullptr, nullptr);  // so that its children end with it
  AssignProcessToJobObject(job.value, process.value);
  ResumeThread(thread.value);
  write_end.close();

  ProcessResult result;
  std::array<char, 4096> piece{};
  while (true) {
    try {
      if (request.cancel != nullptr && *request.cancel) throw PullCancelled();
      if (request.meanwhile) request.meanwhile();
    } catch (...) {
      TerminateJobObject(job.value, 1);
      throw;
    }
    DWORD waiting = 0;
    if (!PeekNamedPipe(read_end.value, nullptr, 0, nullptr, &waiting, nullptr)) break;
    if (waiting == 0) {
      Sleep(50);
      continue;
    }
    DWORD got = 0;
    if (!ReadFile(read_end.value, piece.data(), static_cast<DWORD>(piece.size()), &got, nullptr) || got == 0) break;
    result.output.append(piece.data(), got);
    if (result.output.size() > 2 * kKeptOutput) result.output.erase(0, result.output.size() - kKeptOutput);
  }
  WaitForSingleObject(process.value, INFINITE);
  DWORD code = 0;
  GetExitCodeProcess(process.value, &code);
  result.exit_code = static_cast<int>(code);
  return result;
}

}  // namespace glmhost::model_store
