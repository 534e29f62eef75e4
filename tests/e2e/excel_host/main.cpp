// excel_host.exe XLL SCRIPT...: see README.md.
#include <cstdio>
#include <iostream>

#include "tests/e2e/excel_host/script.h"

namespace {

// A crash must not look like success, which it does under Wine.
LONG WINAPI on_crash(EXCEPTION_POINTERS* crash) {
  std::printf("CRASHED: exception %08lx at %p, address %p\n", crash->ExceptionRecord->ExceptionCode,
              crash->ExceptionRecord->ExceptionAddress,
              reinterpret_cast<void*>(
                  crash->ExceptionRecord->NumberParameters > 1 ? crash->ExceptionRecord->ExceptionInformation[1] : 0));
  std::fflush(stdout);
  TerminateProcess(GetCurrentProcess(), 70);
  return EXCEPTION_EXECUTE_HANDLER;
}

std::string script_name(const std::string& path) {
  return path.substr(path.find_last_of("\\/") + 1);
}

}  // namespace

int main(int count, char** arguments) {
  SetUnhandledExceptionFilter(on_crash);
  if (count < 3) {
    std::cerr << "excel_host XLL SCRIPT...\n";
    return 2;
  }
  const std::string xll = arguments[1];
  int passed = 0;
  int failed = 0;
  excel_host::Host host(excel_host::to_wide(excel_host::to_utf16(std::string_view(xll))));
  try {
    host.add_in.load();
    for (const std::string& each : host.violations.take()) throw excel_host::Failure{each};
  } catch (const excel_host::Failure& failure) {
    std::cout << "FAILED: the add-in does not load: " << failure.sentence << "\n0 passed, 1 failed" << std::endl;
    return 1;
  }
  for (int i = 2; i < count; ++i) {
    const std::string name = script_name(arguments[i]);
    try {
      host.threads = 2;
      host.automatic = true;
      host.book.dynamic_arrays = true;
      host.rtd.throttle_ms = 50;
      host.book.cells().clear();
      host.disconnect_unused_topics();
      excel_host::run_script(host, arguments[i]);
      std::cout << "passed: " << name << std::endl;
      ++passed;
    } catch (const excel_host::Failure& failure) {
      std::cout << "FAILED: " << name << ": " << failure.sentence << std::endl;
      ++failed;
    }
  }
  host.book.cells().clear();
  host.disconnect_unused_topics();
  if (host.rtd.topics() != 0) std::cout << "FAILED: topics are left at the end" << std::endl, ++failed;
  host.rtd.end();
  host.add_in.unload();
  CoFreeUnusedLibrariesEx(0, 0);
  // With live data, Excel unmaps an add-in that has threads of its own under its feet, unless it is pinned.
  if (!host.add_in.is_still_mapped()) std::cout << "FAILED: the module is not pinned" << std::endl, ++failed;
  host.pump(100);
  for (const std::string& each : host.violations.take()) {
    std::cout << "FAILED: at the end: " << each << std::endl;
    ++failed;
  }
  std::cout << passed << " passed, " << failed << " failed" << std::endl;
  return failed == 0 ? 0 : 1;
}
