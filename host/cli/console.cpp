#include "host/cli/console.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <system_error>

#include "host/cli/exit_code.h"
#include "host/model_store/byte_size.h"
#include "host/platform/paths.h"
#include "host/protocol/utf8.h"

namespace glmhost::cli {
namespace {

[[noreturn]] void output_failed() {
  const int error = errno;
  if (error == EPIPE) throw OutputClosed();
  throw Failure(ExitCode::failure, std::string("The output cannot be written: ") + std::strerror(error) + ".");
}

void write_error(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

[[noreturn]] void too_long(const std::string& what, std::uint64_t most) {
  throw Failure(ExitCode::usage,
                what + " is longer than " + model_store::byte_size(most) + ", the most that is taken.");
}

template <class Read>
std::string read_all(const Read& read, const std::string& what, std::uint64_t most) {
  std::string text;
  std::array<char, 65536> piece;
  while (const std::size_t got = read(piece.data(), piece.size())) {
    text.append(piece.data(), got);
    if (text.size() > most) too_long(what, most);
  }
  return text;
}

// Where the first byte lies that belongs to no character.
std::size_t valid_prefix(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t length = 1;
    while (length <= 4 && !protocol::is_utf8(text.substr(at, length))) ++length;
    if (length > 4) return at;
    at += length;
  }
  return at;
}

}  // namespace

void print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) output_failed();
}

void flush() {
  if (std::fflush(stdout) != 0) output_failed();
}

void print_error(std::string_view sentence) {
  write_error("glm: " + std::string(sentence) + "\n");
}

std::string read_standard_input(std::uint64_t most) {
  std::string text = read_all([](char* data, std::size_t size) { return std::fread(data, 1, size, stdin); },
                              "The standard input", most);
  if (std::ferror(stdin) != 0) throw Failure(ExitCode::failure, "The standard input cannot be read.");
  return text;
}

std::string read_file_or_input(const std::string& name, std::uint64_t most) {
  if (name == "-") return read_standard_input(most);
  const std::filesystem::path path = platform::path_from_utf8(name);
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) throw Failure(ExitCode::usage, "There is no file `" + name + "`.");
  if (std::filesystem::is_directory(status)) throw Failure(ExitCode::usage, "`" + name + "` is a folder, not a file.");
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw Failure(ExitCode::usage, "The file `" + name + "` cannot be read: check its permissions.");
  std::string text = read_all(
      [&](char* data, std::size_t size) {
        stream.read(data, static_cast<std::streamsize>(size));
        return static_cast<std::size_t>(stream.gcount());
      },
      "The file `" + name + "`", most);
  if (stream.bad()) throw Failure(ExitCode::failure, "Reading the file `" + name + "` failed.");
  return text;
}

void require_utf8(std::string_view text, const std::string& what) {
  if (protocol::is_utf8(text)) return;
  const std::size_t at = valid_prefix(text);
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  throw Failure(ExitCode::usage, what + " is not UTF-8 text: byte " + std::to_string(at + 1) + " (line " +
                                     std::to_string(line) +
                                     ") belongs to no character. Convert it first, for example with `iconv -f "
                                     "WINDOWS-1252 -t UTF-8`.");
}

}  // namespace glmhost::cli
