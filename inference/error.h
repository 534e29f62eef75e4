// Every failure of the engine: a kind that a program can act on and a sentence that tells a person what to do.
#pragma once

#include <stdexcept>
#include <string>

namespace glmhost {

enum class ErrorKind {
  not_found,         // no such file, tensor or name
  bad_file,          // the file is damaged or not what it claims to be
  unsupported,       // sound, but this version cannot run it (architecture, tensor type, tokenizer)
  out_of_memory,     // does not fit; the sentence has the numbers
  context_exceeded,  // prompt longer than the context; the sentence says by how much
  bad_argument,      // a value outside its range
  cancelled,         // the caller asked for it
  io,                // the system refused to read or write
};

// Thrown by everything below inference/. what() is a whole sentence without a secret in it.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& sentence) : std::runtime_error(sentence), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

}  // namespace glmhost
