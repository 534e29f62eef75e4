#include <doctest/doctest.h>

#include "host/model_store/https_client.h"
#include "tests/unit/host/model_store/temporary_folder.h"

using namespace glmhost::model_store;

TEST_CASE("an https address has a host, a port and a target") {
  const HttpsUrl plain = parse_https_url("https://example.org/a/b.gguf?x=1#part");
  CHECK(plain.host == "example.org");
  CHECK(plain.port == 443);
  CHECK(plain.target == "/a/b.gguf?x=1");
  const HttpsUrl with_port = parse_https_url("https://example.org:8443");
  CHECK(with_port.port == 8443);
  CHECK(with_port.target == "/");
  CHECK(parse_https_url("https://example.org?x").target == "/?x");
  const HttpsUrl six = parse_https_url("https://[::1]:99/x");
  CHECK(six.host == "::1");
  CHECK(six.port == 99);
}

TEST_CASE("other addresses are refused with the reason") {
  const auto sentence = [](const std::string& url) { return sentence_of([&] { parse_https_url(url); }); };
  CHECK(sentence("http://example.org/x").find("only https://") != std::string::npos);
  CHECK(sentence("ftp://example.org/x").find("only https://") != std::string::npos);
  CHECK(sentence("https://user:secret@example.org/x").find("logs") != std::string::npos);
  CHECK(sentence("https:///x").find("names no host") != std::string::npos);
  CHECK(sentence("https://example.org/a b").find("%20") != std::string::npos);
  CHECK(sentence("https://example.org/a\r\nHost: x").find("control character") != std::string::npos);
  for (const std::string bad : {"https://h:0/", "https://h:65536/", "https://h:/", "https://h:x/", "https://h:1x/"}) {
    CAPTURE(bad);
    CHECK(sentence(bad).find("port") != std::string::npos);
  }
  CHECK(sentence("https://[::1/x").find("bracket") != std::string::npos);
}
