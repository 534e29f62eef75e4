// clang-format off
#include <windows.h>
#include <winhttp.h>
// clang-format on

#include <algorithm>
#include <memory>
#include <vector>

#include "host/model_store/https_client.h"
#include "host/platform/paths.h"

namespace glmhost::model_store {
namespace {

struct CloseInternet {
  void operator()(void* handle) const { WinHttpCloseHandle(handle); }
};
using Internet = std::unique_ptr<void, CloseInternet>;

std::wstring wide(const std::string& text) {
  return platform::path_from_utf8(text).wstring();
}

HttpsError no_connection(const std::string& host, const std::string& reason) {
  return HttpsError(host + " cannot be reached: " + reason + ". Check the network and the proxy settings of Windows.",
                    true);
}

// `host` with its port.
[[noreturn]] void throw_error(const std::string& host) {
  const DWORD error = GetLastError();
  switch (error) {
    case ERROR_WINHTTP_SECURE_FAILURE:
      throw HttpsError(
          "The certificate of " + host +
              " is not trusted by this system. Check the address and this machine's clock, or install your "
              "organisation's certificates in Windows.",
          false);
    case ERROR_WINHTTP_NAME_NOT_RESOLVED:
      throw no_connection(host, "the name cannot be resolved");
    case ERROR_WINHTTP_CANNOT_CONNECT:
      throw no_connection(host, "the connection was refused");
    case ERROR_WINHTTP_TIMEOUT:
      throw no_connection(host, "there was no answer in time");
    default:
      throw HttpsError("The connection to " + host + " broke (Windows error " + std::to_string(error) + ").", true);
  }
}

// "Name: value" lines; later ones of the same name are left out.
Headers parse_headers(const std::string& text) {
  Headers headers;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find("\r\n", begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 2;
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    std::string name = line.substr(0, colon);
    std::ranges::transform(name, name.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    const std::size_t value = std::min(line.find_first_not_of(' ', colon + 1), line.size());
    headers.emplace(name, line.substr(value));
  }
  return headers;
}

HttpsResponse read_response(HINTERNET request, const std::string& host) {
  HttpsResponse response;
  DWORD status = 0;
  DWORD size = sizeof(status);
  if (!WinHttpQueryHeaders(request, WINHTTP_QUERY_STATUS_CODE | WINHTTP_QUERY_FLAG_NUMBER, WINHTTP_HEADER_NAME_BY_INDEX,
                           &status, &size, WINHTTP_NO_HEADER_INDEX)) {
    throw_error(host);
  }
  response.status = static_cast<int>(status);
  DWORD bytes = 0;
  WinHttpQueryHeaders(request, WINHTTP_QUERY_RAW_HEADERS_CRLF, WINHTTP_HEADER_NAME_BY_INDEX, nullptr, &bytes,
                      WINHTTP_NO_HEADER_INDEX);
  std::wstring raw(bytes / sizeof(wchar_t), L'\0');
  if (bytes > 0 && WinHttpQueryHeaders(request, WINHTTP_QUERY_RAW_HEADERS_CRLF, WINHTTP_HEADER_NAME_BY_INDEX,
                                       raw.data(), &bytes, WINHTTP_NO_HEADER_INDEX)) {
    std::string text;
    for (const wchar_t c : raw) text += c < 0x80 ? static_cast<char>(c) : '?';
    response.headers = parse_headers(text);
  }
  return response;
}

}  // namespace

void https_get(const std::string& url, const Headers& headers,
               const std::function<bool(const HttpsResponse&)>& on_response,
               const std::function<bool(std::span<const char>)>& on_body) {
  const HttpsUrl parts = parse_https_url(url);
  const std::string server = parts.host + ":" + std::to_string(parts.port);
  const Internet session(
      WinHttpOpen(L"glm-host", WINHTTP_ACCESS_TYPE_DEFAULT_PROXY, WINHTTP_NO_PROXY_NAME, WINHTTP_NO_PROXY_BYPASS, 0));
  if (!session) throw_error(server);
  WinHttpSetTimeouts(session.get(), 30'000, 30'000, 30'000, 60'000);
  const Internet connection(
      WinHttpConnect(session.get(), wide(parts.host).c_str(), static_cast<INTERNET_PORT>(parts.port), 0));
  if (!connection) throw_error(server);
  const Internet request(WinHttpOpenRequest(connection.get(), L"GET", wide(parts.target).c_str(), nullptr,
                                            WINHTTP_NO_REFERER, WINHTTP_DEFAULT_ACCEPT_TYPES, WINHTTP_FLAG_SECURE));
  if (!request) throw_error(server);
  DWORD no_redirects = WINHTTP_DISABLE_REDIRECTS;
  WinHttpSetOption(request.get(), WINHTTP_OPTION_DISABLE_FEATURE, &no_redirects, sizeof(no_redirects));

  std::wstring sent = L"Accept-Encoding: identity\r\n";
  for (const auto& [name, value] : headers) sent += wide(name) + L": " + wide(value) + L"\r\n";
  if (!WinHttpSendRequest(request.get(), sent.c_str(), static_cast<DWORD>(sent.size()), WINHTTP_NO_REQUEST_DATA, 0, 0,
                          0) ||
      !WinHttpReceiveResponse(request.get(), nullptr)) {
    throw_error(server);
  }
  if (!on_response(read_response(request.get(), server))) return;
  std::vector<char> piece(std::size_t{1} << 16);
  while (true) {
    DWORD got = 0;
    if (!WinHttpReadData(request.get(), piece.data(), static_cast<DWORD>(piece.size()), &got)) throw_error(server);
    if (got == 0 || !on_body({piece.data(), got})) return;
  }
}

}  // namespace glmhost::model_store
