#include "vscode-bridge/server/workspace/uri.h"

#include "host/platform/paths.h"

namespace glmhost::workspace {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int low = high >= 0 ? hex_digit(text[i + 2]) : -1;
    if (low < 0) {
      out += text[i];
    } else {
      out += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return out;
}

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("/-._~").find(c) != std::string_view::npos;
}

}  // namespace

std::optional<std::filesystem::path> path_of(std::string_view uri) {
  const std::size_t colon = uri.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view scheme = uri.substr(0, colon);
  if (scheme != "file" && scheme != "vscode-notebook-cell" && scheme != "vscode-remote") return std::nullopt;
  std::string_view rest = uri.substr(colon + 1);
  rest = rest.substr(0, rest.find_first_of("?#"));
  std::string_view authority;
  if (rest.starts_with("//")) {
    rest.remove_prefix(2);
    const std::size_t slash = rest.find('/');
    if (slash == std::string_view::npos) return std::nullopt;
    authority = rest.substr(0, slash);
    rest.remove_prefix(slash);
  }
  std::string path = decoded(rest);
  if (path.empty() || path.find('\0') != std::string::npos) return std::nullopt;
#ifdef _WIN32
  const bool has_drive = path.size() >= 3 && path[0] == '/' && path[2] == ':';
  if (has_drive) path.erase(0, 1);
  if (scheme == "file" && !authority.empty() && authority != "localhost") {
    path = "//" + decoded(authority) + path;
  }
#endif
  try {
    std::filesystem::path result = platform::path_from_utf8(path);
    if (!result.is_absolute()) return std::nullopt;
    return result.lexically_normal();
  } catch (const std::exception&) {  // bytes that are no text, on Windows
    return std::nullopt;
  }
}

std::string uri_of(const std::filesystem::path& absolute_path) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string path = platform::to_utf8(absolute_path);
  for (char& c : path) {
    if (c == '\\') c = '/';
  }
  std::string uri = path.starts_with('/') ? "file://" : "file:///";
  for (const char c : path) {
    if (is_plain(c)) {
      uri += c;
    } else {
      uri += '%';
      uri += digits[static_cast<unsigned char>(c) >> 4];
      uri += digits[static_cast<unsigned char>(c) & 15];
    }
  }
  return uri;
}

}  // namespace glmhost::workspace
