// clang-format off
#include <windows.h>
#include <bcrypt.h>
// clang-format on

#include <array>
#include <stdexcept>

#include "host/model_store/sha256.h"

namespace glmhost::model_store {

struct Sha256::State {
  BCRYPT_ALG_HANDLE algorithm = nullptr;
  BCRYPT_HASH_HANDLE hash = nullptr;
  ~State() {
    if (hash != nullptr) BCryptDestroyHash(hash);
    if (algorithm != nullptr) BCryptCloseAlgorithmProvider(algorithm, 0);
  }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  const bool ready = BCryptOpenAlgorithmProvider(&state_->algorithm, BCRYPT_SHA256_ALGORITHM, nullptr, 0) >= 0 &&
                     BCryptCreateHash(state_->algorithm, &state_->hash, nullptr, 0, nullptr, 0, 0) >= 0;
  if (!ready) throw std::runtime_error("Windows does not offer SHA-256 here, so files cannot be checked.");
}

Sha256::~Sha256() = default;

void Sha256::update(std::span<const char> bytes) {
  // CNG takes the bytes as non-const but does not write them; a length is 32 bits wide.
  constexpr std::size_t kMost = 1u << 30;
  while (!bytes.empty()) {
    const auto piece = bytes.first(bytes.size() < kMost ? bytes.size() : kMost);
    BCryptHashData(state_->hash, reinterpret_cast<PUCHAR>(const_cast<char*>(piece.data())),
                   static_cast<ULONG>(piece.size()), 0);
    bytes = bytes.subspan(piece.size());
  }
}

std::string Sha256::finish() {
  std::array<unsigned char, 32> digest{};
  BCryptFinishHash(state_->hash, digest.data(), static_cast<ULONG>(digest.size()), 0);
  return to_hex(digest);
}

}  // namespace glmhost::model_store
