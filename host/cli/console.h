// stdin, stdout and stderr of `glm`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace glmhost::cli {

// Thrown when whoever read stdout has gone away: the verb stops its work and ends quietly.
struct OutputClosed {};

// Writes to stdout. Throws OutputClosed, or Failure with a sentence when the disk behind it is full.
void print(std::string_view text);
void flush();  // what print() holds back; streamed answers flush at every piece

// "glm: SENTENCE" on stderr, errors and notes alike. Never throws: when stderr is gone, nobody listens.
void print_error(std::string_view sentence);

// stdin to its end, as bytes. Throws Failure(usage) when there are more than `most` bytes.
std::string read_standard_input(std::uint64_t most);

// A file, or stdin for "-". Throws Failure with a sentence that names it.
std::string read_file_or_input(const std::string& name, std::uint64_t most);

// Throws Failure(usage) naming `what` and the first bad byte when the text is not UTF-8.
void require_utf8(std::string_view text, const std::string& what);

}  // namespace glmhost::cli
