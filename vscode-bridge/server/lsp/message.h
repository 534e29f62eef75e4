// JSON-RPC 2.0 as LSP uses it: what a body is, and how answers are written.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace glmhost::lsp {

using Json = nlohmann::json;

enum class ErrorCode {
  parse_error = -32700,
  invalid_request = -32600,
  method_not_found = -32601,
  invalid_params = -32602,
  internal_error = -32603,
  server_not_initialized = -32002,
  content_modified = -32801,
  request_cancelled = -32800,
};

struct Request {
  Json id;  // a number or a string
  std::string method;
  Json params;
};
struct Notification {
  std::string method;
  Json params;
};
// To a request of ours.
struct Response {
  Json id;
  Json result;
  std::optional<Json> error;
};
// A body that is none of these.
struct Malformed {
  Json id;  // null where it could not be read
  ErrorCode code = ErrorCode::parse_error;
  std::string sentence;
};

using Message = std::variant<Request, Notification, Response, Malformed>;

// Never throws on any input but for lack of memory. Halves of surrogate pairs, which JSON lets through as escapes and
// UTF-8 does not, become U+FFFD: one UTF-16 unit as before, so that positions stay right.
Message parse(std::string_view body);

inline constexpr int kMostNesting = 128;  // of arrays and objects

// Bodies, without their headers. Text that is no UTF-8 is replaced, never thrown at.
std::string result_text(const Json& id, const Json& result);
std::string error_text(const Json& id, ErrorCode code, std::string_view sentence);
std::string notification_text(std::string_view method, const Json& params);
std::string request_text(const Json& id, std::string_view method, const Json& params);

std::string valid_text(const std::string& bytes);  // U+FFFD for what is no UTF-8

std::string with_header(const std::string& body);

}  // namespace glmhost::lsp
