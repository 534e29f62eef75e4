#include "inference/constraints/web_address.h"

#include <algorithm>
#include <charconv>

namespace glmhost::constraints {
namespace {

struct Address {
  std::string scheme;     // with its colon; may be empty
  std::string authority;  // with its slashes; may be empty
  std::string path;
  std::string query;  // with its question mark; may be empty
};

Address parse(std::string_view text) {
  Address address;
  text = text.substr(0, text.find('#'));
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos && colon > 0 && text.substr(0, colon).find_first_of("/?") == text.npos) {
    address.scheme = text.substr(0, colon + 1);
    text.remove_prefix(colon + 1);
  }
  if (text.starts_with("//")) {
    const std::size_t end = std::min(text.find_first_of("/?", 2), text.size());
    address.authority = text.substr(0, end);
    text.remove_prefix(end);
  }
  const std::size_t question = std::min(text.find('?'), text.size());
  address.path = text.substr(0, question);
  address.query = text.substr(question);
  return address;
}

std::string without_dots(std::string_view path) {
  std::string out;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/', path.starts_with('/') ? 1 : 0), path.size());
    const std::string_view segment = path.substr(0, end);
    path.remove_prefix(end);
    if (segment == "/." || segment == ".") {
      if (path.empty()) out += '/';
    } else if (segment == "/.." || segment == "..") {
      out.resize(out.rfind('/') == std::string::npos ? 0 : out.rfind('/'));
      if (path.empty()) out += '/';
    } else {
      out += segment;
    }
  }
  return out;
}

}  // namespace

std::string resolve_address(std::string_view base_text, std::string_view reference_text) {
  const Address base = parse(base_text);
  Address reference = parse(reference_text);
  if (!reference.scheme.empty()) {
    return reference.scheme + reference.authority + without_dots(reference.path) + reference.query;
  }
  if (!reference.authority.empty()) {
    return base.scheme + reference.authority + without_dots(reference.path) + reference.query;
  }
  if (reference.path.empty()) {
    return base.scheme + base.authority + base.path + (reference.query.empty() ? base.query : reference.query);
  }
  if (!reference.path.starts_with('/')) {
    const std::size_t slash = base.path.rfind('/');
    const std::string folder = slash != std::string::npos ? base.path.substr(0, slash + 1)
                               : base.authority.empty()   ? ""
                                                          : "/";
    reference.path = folder + reference.path;
  }
  return base.scheme + base.authority + without_dots(reference.path) + reference.query;
}

std::string decode_percent(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 3, value, 16).ptr == text.data() + i + 3) {
      out += static_cast<char>(value);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace glmhost::constraints
