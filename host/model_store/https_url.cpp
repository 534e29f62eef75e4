#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include "host/model_store/https_client.h"

namespace glmhost::model_store {

HttpsUrl parse_https_url(const std::string& url) {
  constexpr std::string_view kScheme = "https://";
  const auto refuse = [&](const std::string& why) -> HttpsUrl {
    throw std::invalid_argument("The address `" + url.substr(0, 200) + "` cannot be used: " + why);
  };
  if (!url.starts_with(kScheme)) return refuse("only https:// addresses are fetched.");
  if (std::ranges::any_of(url, [](unsigned char c) { return c <= 0x20 || c == 0x7f; })) {
    return refuse("it holds a space or a control character; write a space as %20.");
  }
  const std::string_view rest = std::string_view(url).substr(kScheme.size());
  const std::size_t end = std::min(rest.find_first_of("/?#"), rest.size());
  std::string_view authority = rest.substr(0, end);
  if (authority.find('@') != std::string_view::npos)
    return refuse("a user name or password in it would end up in logs.");
  HttpsUrl out;
  std::string_view port;
  if (authority.starts_with('[')) {
    const std::size_t close = authority.find(']');
    if (close == std::string_view::npos) return refuse("the bracket of its host is not closed.");
    out.host = authority.substr(1, close - 1);
    port = authority.substr(close + 1);
  } else {
    out.host = authority.substr(0, authority.find(':'));
    port = authority.substr(out.host.size());
  }
  if (out.host.empty()) return refuse("it names no host.");
  if (!port.empty()) {
    port.remove_prefix(1);
    const auto [stop, error] = std::from_chars(port.data(), port.data() + port.size(), out.port);
    if (error != std::errc() || stop != port.data() + port.size() || out.port < 1 || out.port > 65535) {
      return refuse("its port is not a number from 1 to 65535.");
    }
  }
  const std::string_view target = rest.substr(end, std::min(rest.find('#'), rest.size()) - end);
  out.target = target.starts_with('/') ? std::string(target) : std::string("/").append(target);
  return out;
}

}  // namespace glmhost::model_store
