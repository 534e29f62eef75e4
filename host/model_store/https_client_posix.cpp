#include <httplib.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>

#include "host/model_store/https_client.h"
#include "host/platform/environment.h"
#include "host/platform/posix_file.h"

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

struct Proxy {
  std::string host;
  int port = 3128;
  std::string user, password;
};

// http://[user:password@]host[:port] in https_proxy; nothing where the host is reached directly.
std::optional<Proxy> proxy_for(const std::string& host) {
  const auto variable_text = variable("https_proxy", "HTTPS_PROXY");
  if (!variable_text || goes_directly(host)) return std::nullopt;
  Proxy proxy;
  std::string rest = *variable_text;
  if (const std::size_t scheme = rest.find("://"); scheme != std::string::npos) rest.erase(0, scheme + 3);
  rest.resize(std::min(rest.find('/'), rest.size()));
  if (const std::size_t at = rest.rfind('@'); at != std::string::npos) {
    const std::string user = rest.substr(0, at);
    const std::size_t colon = std::min(user.find(':'), user.size());
    proxy.user = user.substr(0, colon);
    if (colon < user.size()) proxy.password = user.substr(colon + 1);
    rest.erase(0, at + 1);
  }
  const std::size_t colon = rest.rfind(':');
  if (colon != std::string::npos) {
    proxy.port = std::atoi(rest.c_str() + colon + 1);
    rest.resize(colon);
  }
  proxy.host = rest;
  return proxy;
}

// cpp-httplib only says that there was no connection. Tries once more, without TLS, to learn why from the system.
std::string why_unreachable(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found); error != 0) {
    return std::string("the name cannot be resolved: ") + gai_strerror(error);
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> addresses(found, freeaddrinfo);
  std::string reason = "no address answers";
  for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
    const platform::PosixFile socket(
        ::socket(address->ai_family, address->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, address->ai_protocol));
    if (!socket) continue;
    int error = connect(socket.get(), address->ai_addr, address->ai_addrlen) == 0 ? 0 : errno;
    if (error == EINPROGRESS) {
      constexpr int kPatienceMs = 3000;
      pollfd writable{socket.get(), POLLOUT, 0};
      socklen_t size = sizeof(error);
      if (poll(&writable, 1, kPatienceMs) <= 0) {
        error = ETIMEDOUT;
      } else {
        getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
      }
    }
    if (error == 0) return "the connection broke off";
    reason = platform::error_text(error);
  }
  return reason;
}

std::string with_port(const std::string& host, int port) {
  return (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + std::to_string(port);
}

[[noreturn]] void throw_error(httplib::Error error, const std::string& host, int port,
                              const std::optional<Proxy>& proxy) {
  using httplib::Error;
  const std::string server = with_port(host, port);
  switch (error) {
    case Error::SSLServerVerification:
    case Error::SSLLoadingCerts:
      throw HttpsError("The certificate of " + server +
                           " is not trusted by this system. Check the address and this machine's clock, install the "
                           "package ca-certificates, or name your organisation's certificates in SSL_CERT_FILE.",
                       false);
    case Error::SSLConnection:
      throw HttpsError("No secure connection to " + server + " came about: what answers there does not speak TLS.",
                       true);
    case Error::Connection:
    case Error::ConnectionTimeout:
      if (proxy) {
        throw HttpsError("The proxy " + with_port(proxy->host, proxy->port) + ", which https_proxy names for " +
                             server + ", cannot be reached: " + why_unreachable(proxy->host, proxy->port) +
                             ". Correct or unset https_proxy, or list the host in no_proxy.",
                         true);
      }
      throw HttpsError(server + " cannot be reached: " + why_unreachable(host, port) +
                           ". Check the address and the network; behind a proxy, set https_proxy.",
                       true);
    default:
      throw HttpsError("The connection to " + server + " broke (" + httplib::to_string(error) + ").", true);
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
  const std::optional<Proxy> proxy = proxy_for(parts.host);
  if (proxy) {
    if (!proxy->user.empty()) client.set_proxy_basic_auth(proxy->user, proxy->password);
    client.set_proxy(proxy->host, proxy->port);
  }

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
  if (!result && !stopped) throw_error(result.error(), parts.host, parts.port, proxy);
}

}  // namespace glmhost::model_store
