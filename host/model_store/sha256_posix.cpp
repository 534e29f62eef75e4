#include <openssl/evp.h>

#include <array>
#include <stdexcept>

#include "host/model_store/sha256.h"

namespace glmhost::model_store {

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~State() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  if (state_->context == nullptr || EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error("OpenSSL on this system does not offer SHA-256, so files cannot be checked.");
  }
}

Sha256::~Sha256() = default;

void Sha256::update(std::span<const char> bytes) {
  EVP_DigestUpdate(state_->context, bytes.data(), bytes.size());
}

std::string Sha256::finish() {
  std::array<unsigned char, 32> digest{};
  EVP_DigestFinal_ex(state_->context, digest.data(), nullptr);
  return to_hex(digest);
}

}  // namespace glmhost::model_store
