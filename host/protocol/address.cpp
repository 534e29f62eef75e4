#include "host/protocol/address.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace glmhost::protocol {
namespace {

constexpr std::string_view kIpc = "ipc://";
constexpr std::string_view kTcp = "tcp://";

bool is_number_up_to(std::string_view text, std::uint32_t max) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number <= max;
}

// 127.x.y.z; names such as "localhost" are left out, since the machine's configuration may point them anywhere.
bool is_loopback(std::string_view host) {
  if (host == "[::1]") return true;
  if (!host.starts_with("127.")) return false;
  int parts = 0;
  for (;; ++parts) {
    const auto dot = host.find('.');
    if (!is_number_up_to(host.substr(0, dot), 255)) return false;
    if (dot == std::string_view::npos) break;
    host.remove_prefix(dot + 1);
  }
  return parts == 3;
}

}  // namespace

bool is_ipc(std::string_view address) {
  return address.starts_with(kIpc);
}
bool is_tcp(std::string_view address) {
  return address.starts_with(kTcp);
}

std::optional<std::string> check_address(std::string_view address) {
  const std::string quoted = "The address \"" + std::string(address.substr(0, 200)) + "\"";
  if (address.find('\0') != std::string_view::npos) return quoted + " holds a zero byte.";
  if (is_ipc(address)) {
    if (address.size() > kIpc.size() && address[kIpc.size()] == '/') return std::nullopt;
    return quoted + " must name the socket by an absolute path.";
  }
  if (!is_tcp(address)) return quoted + " must begin with ipc:// or tcp://.";
  address.remove_prefix(kTcp.size());
  const auto colon = address.rfind(':');
  if (colon == std::string_view::npos || !is_number_up_to(address.substr(colon + 1), 65535)) {
    return quoted + " must end with a port from 0 to 65535.";
  }
  if (!is_loopback(address.substr(0, colon))) {
    return quoted + " can be reached from other machines. GLM Host listens on 127.0.0.1 or [::1] only.";
  }
  return std::nullopt;
}

bool is_key(std::string_view text) {
  constexpr std::string_view kMarks = ".-:+=^!/*?&<>()[]{}@%$#";
  return text.size() == 40 && std::all_of(text.begin(), text.end(), [&](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  kMarks.find(c) != std::string_view::npos;
         });
}

}  // namespace glmhost::protocol
