// SHA-256 (FIPS 180-4), from the system's cryptographic library: OpenSSL, on Windows CNG.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace glmhost::model_store {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void update(std::span<const char> bytes);
  std::string finish();  // 64 small hexadecimal digits; once

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The digest as small letters when the text is one (64 hexadecimal digits, "sha256:" before them allowed).
std::optional<std::string> parse_sha256(std::string_view text);

std::string to_hex(std::span<const unsigned char> bytes);

}  // namespace glmhost::model_store
