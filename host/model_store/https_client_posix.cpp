#include <httplib.h>

#include <algorithm>
#include <optional>

#include "host/model_store/https_client.h"
#include "host/platform/environment.h"

namespace glmhost::model_store {
namespace {

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return text;
}

std::optional<std::string> variable(const char* small, const char* large) {
  auto value = platform::environment_variable(small);
  return value ? value : platform::environment_variable(large);
}

// no_proxy: host names and domain suffixes, with or without a leading dot, separated by commas; * for all.
bool goes_directly(const std::string& host) {
  const std::string list = variable("no_proxy", "NO_PROXY").value_or("");
  std::size_t begin = 0;
  while (begin <= list.size()) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    std::string entry = list.substr(begin, end - begin);
    std::erase(entry, ' ');
    if (entry.starts_with('.')) entry.erase(0, 1);
    if (entry == "*" || (!entry.empty() && (host == entry || host.ends_with("." + entry)))) return true;
    begin = end + 1;
  }
  return false;
}

// http://[user:password@]host[:port]
void set_proxy(httplib::SSLClient& client, const std::string& host) {
  const auto proxy = variable("https_proxy", "HTTPS_PROXY");
  if (!proxy || goes_directly(host)) return;
  std::string rest = *proxy;
  if (const std::size_t scheme = rest.find("://"); scheme != std::string::npos) rest.erase(0, scheme + 3);
  rest.resize(std::min(rest.find('/'), rest.size()));
  if (const std::size_t at = rest.rfind('@'); at != std::string::npos) {
    const std::string user = rest.substr(0, at);
    const std::size_t colon = std::min(user.find(':'), user.size());
    client.set_proxy_basic_auth(user.substr(0, colon), colon < user.size() ? user.substr(colon + 1) : std::string());
    rest.erase(0, at + 1);
  }
  const std::size_t colon = rest.rfind(':');
  int port = 3128;
  if (colon != std::string::npos) {
    port = std::atoi(rest.c_str() + colon + 1);
    rest.resize(colon);
  }
  client.set_proxy(rest, port);
}

[[noreturn]] void throw_error(httplib::Error error, const std::string& host) {
  using httplib::Error;
  switch (error) {
    case Error::SSLServerVerification:
    case Error::SSLLoadingCerts:
      throw HttpsError("The certificate of " + host +
                           " is not trusted by this system. Check the address and this machine's clock, install the "
                           "package ca-certificates, or name your organisation's certificates in SSL_CERT_FILE.",
                       false);
    case Error::SSLConnection:
      throw HttpsError("No secure connection to " + host + " came about.", true);
    case Error::Connection:
    case Error::ConnectionTimeout:
      throw HttpsError(host + " cannot be reached. Check the network; behind a proxy, set https_proxy.", true);
    default:
      throw HttpsError("The connection to " + host + " broke (" + httplib::to_string(error) + ").", true);
  }
}

}  // namespace

void https_get(const std::string& url, const Headers& headers,
               const std::function<bool(const HttpsResponse&)>& on_response,
               const std::function<bool(std::span<const char>)>& on_body) {
  const HttpsUrl parts = parse_https_url(url);
  httplib::SSLClient client(parts.host, parts.port);
  client.set_connection_timeout(30);
  client.set_read_timeout(60);
  client.set_write_timeout(30);
  client.set_decompress(false);
  client.set_url_encode(false);  // the address is encoded as its author wrote it
  client.enable_server_certificate_verification(true);
  set_proxy(client, parts.host);

  httplib::Headers sent = {{"User-Agent", "glm-host"}, {"Accept-Encoding", "identity"}};
  for (const auto& [name, value] : headers) sent.emplace(name, value);
  bool stopped = false;
  const auto result = client.Get(
      parts.target, sent,
      [&](const httplib::Response& response) {
        HttpsResponse out;
        out.status = response.status;
        for (const auto& [name, value] : response.headers) out.headers.emplace(lower(name), value);
        stopped = !on_response(out);
        return !stopped;
      },
      [&](const char* data, std::size_t size) {
        stopped = !on_body({data, size});
        return !stopped;
      });
  if (!result && !stopped) throw_error(result.error(), parts.host);
}

}  // namespace glmhost::model_store
