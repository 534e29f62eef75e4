#include "host/model_store/sha256.h"

#include <doctest/doctest.h>

using namespace glmhost::model_store;

namespace {
std::string digest_of(std::string_view text) {
  Sha256 digest;
  digest.update(text);
  return digest.finish();
}
}  // namespace

// The examples of FIPS 180-2, appendix B, and of the empty message.
TEST_CASE("SHA-256 gives the published digests") {
  CHECK(digest_of("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(digest_of("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(digest_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(digest_of(std::string(1'000'000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("the pieces in which bytes come do not matter") {
  Sha256 digest;
  for (int i = 0; i < 1000; ++i) digest.update(std::string(1000, 'a'));
  CHECK(digest.finish() == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("a digest that a person types is 64 hexadecimal digits") {
  const std::string digest(64, 'A');
  CHECK(parse_sha256(digest) == std::string(64, 'a'));
  CHECK(parse_sha256("sha256:" + digest) == std::string(64, 'a'));
  CHECK_FALSE(parse_sha256(digest + "0"));
  CHECK_FALSE(parse_sha256(std::string(63, 'a')));
  CHECK_FALSE(parse_sha256(std::string(64, 'g')));
  CHECK_FALSE(parse_sha256(""));
}
