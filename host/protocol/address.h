// Where a daemon may listen: a socket file, or loopback. Nothing that another machine could reach.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace glmhost::protocol {

bool is_ipc(std::string_view address);
bool is_tcp(std::string_view address);

// What is wrong with it, as a sentence. Right are ipc://<absolute path>, tcp://127.x.y.z:port and tcp://[::1]:port,
// with port 0 to 65535 (0: any free one, to bind only).
std::optional<std::string> check_address(std::string_view address);

// A CURVE key as text: 40 characters of Z85.
bool is_key(std::string_view text);

}  // namespace glmhost::protocol
