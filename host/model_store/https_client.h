// One https request, without following redirects: the piece that differs between systems (cpp-httplib with OpenSSL;
// WinHTTP on Windows). What to ask for and what to do with the answer is https_download.cpp's business.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <stdexcept>
#include <string>

namespace glmhost::model_store {

using Headers = std::map<std::string, std::string>;  // names in small letters

struct HttpsResponse {
  int status = 0;
  Headers headers;
};

class HttpsError : public std::runtime_error {
 public:
  HttpsError(const std::string& sentence, bool worth_retrying) : std::runtime_error(sentence), retry_(worth_retrying) {}
  bool worth_retrying() const { return retry_; }  // a broken connection, not a refusal

 private:
  bool retry_;
};

// GETs `url` (https://host[:port]/path). on_response sees status and headers and says whether the body is wanted;
// on_body gets it piece by piece and returns false to stop. Returns when the body has ended, was not wanted or was
// stopped. Throws HttpsError when there is no connection, the certificate is not trusted, or the connection breaks.
// Proxies: https_proxy and no_proxy (Windows: the system's settings). Trust: the system's certificates (SSL_CERT_FILE).
void https_get(const std::string& url, const Headers& headers,
               const std::function<bool(const HttpsResponse&)>& on_response,
               const std::function<bool(std::span<const char>)>& on_body);

struct HttpsUrl {
  std::string host;  // an IPv6 address without its brackets
  int port = 443;
  std::string target;  // path and query, at least "/"
};

// Throws std::invalid_argument with a sentence when the text is no https address, or holds a user name or control
// characters.
HttpsUrl parse_https_url(const std::string& url);

}  // namespace glmhost::model_store
