#include "vscode-bridge/server/lsp/message.h"

#include <utility>

namespace glmhost::lsp {
namespace {

// Deeper values are refused before they are built: what reads them recurses.
bool is_too_deep(std::string_view body) {
  int depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < body.size(); ++i) {
    const char c = body[i];
    if (in_text) {
      if (c == '\\') ++i;
      if (c == '"') in_text = false;
    } else if (c == '"') {
      in_text = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMostNesting) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

// The number that an escape \uXXXX at POSITION stands for, or -1.
int escaped_unit(std::string_view text, std::size_t position) {
  if (position + 6 > text.size() || text[position] != '\\' || text[position + 1] != 'u') return -1;
  int value = 0;
  for (std::size_t i = position + 2; i < position + 6; ++i) {
    const char c = text[i];
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

bool is_high(int unit) {
  return unit >= 0xD800 && unit <= 0xDBFF;
}
bool is_low(int unit) {
  return unit >= 0xDC00 && unit <= 0xDFFF;
}

std::string without_lone_surrogates(std::string_view body) {
  std::string out(body);
  for (std::size_t i = 0; i + 1 < out.size();) {
    if (out[i] != '\\') {
      ++i;
      continue;
    }
    const int unit = escaped_unit(out, i);
    if (is_high(unit) && is_low(escaped_unit(out, i + 6))) {
      i += 12;
    } else if (is_high(unit) || is_low(unit)) {
      out.replace(i, 6, "\\ufffd");
      i += 6;
    } else {
      i += 2;
    }
  }
  return out;
}

std::string dump(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Malformed malformed(const Json& id, std::string sentence) {
  return {id, ErrorCode::invalid_request, std::move(sentence)};
}

Message classify(Json body) {
  if (body.is_array()) return malformed(nullptr, "Messages come one at a time here, not as a batch.");
  if (!body.is_object()) return malformed(nullptr, "A message must be an object.");
  const auto id = body.find("id");
  const bool has_id = id != body.end() && (id->is_number() || id->is_string());
  const Json known_id = has_id ? *id : Json();
  if (const auto version = body.find("jsonrpc"); version == body.end() || *version != "2.0") {
    return malformed(known_id, "\"jsonrpc\" must be \"2.0\".");
  }
  const auto method = body.find("method");
  if (method == body.end()) {
    const auto error = body.find("error");
    if (body.contains("result") || error != body.end()) {
      Response response{known_id, body.value("result", Json()), std::nullopt};
      if (error != body.end()) response.error = std::move(*error);
      return response;
    }
    return malformed(known_id, "A message must have a method, a result or an error.");
  }
  if (!method->is_string()) return malformed(known_id, "The method must be a text.");
  const auto params = body.find("params");
  Json given = params == body.end() ? Json() : std::move(*params);
  if (!given.is_null() && !given.is_object() && !given.is_array()) {
    return malformed(known_id, "The params must be an object or an array.");
  }
  std::string name = method->get<std::string>();
  if (id == body.end()) return Notification{std::move(name), std::move(given)};
  if (!has_id) return malformed(nullptr, "The id of a request must be a number or a text.");
  return Request{known_id, std::move(name), std::move(given)};
}

}  // namespace

Message parse(std::string_view body) {
  if (is_too_deep(body)) {
    return Malformed{nullptr, ErrorCode::parse_error,
                     "The message is nested more than " + std::to_string(kMostNesting) + " levels deep."};
  }
  Json value = Json::parse(body, nullptr, false);
  if (value.is_discarded()) value = Json::parse(without_lone_surrogates(body), nullptr, false);
  if (value.is_discarded()) return Malformed{nullptr, ErrorCode::parse_error, "The message is not valid JSON."};
  return classify(std::move(value));
}

std::string result_text(const Json& id, const Json& result) {
  return dump({{"jsonrpc", "2.0"}, {"id", id}, {"result", result}});
}

std::string error_text(const Json& id, ErrorCode code, std::string_view sentence) {
  return dump({{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", static_cast<int>(code)}, {"message", sentence}}}});
}

std::string notification_text(std::string_view method, const Json& params) {
  return dump({{"jsonrpc", "2.0"}, {"method", method}, {"params", params}});
}

std::string request_text(const Json& id, std::string_view method, const Json& params) {
  return dump({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}});
}

std::string valid_text(const std::string& bytes) {
  return Json::parse(dump(bytes)).get<std::string>();
}

std::string with_header(const std::string& body) {
  return "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

}  // namespace glmhost::lsp
