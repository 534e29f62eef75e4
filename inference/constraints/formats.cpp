#include "inference/constraints/formats.h"

#include <array>
#include <string>

#include "inference/constraints/regex.h"
#include "inference/constraints/schema_shapes.h"
#include "inference/error.h"

namespace glmhost::constraints {
namespace {

constexpr std::array<std::string_view, 2> kUnsupported = {"regex", "idn-hostname"};
constexpr std::array<std::string_view, 17> kSupported = {"date",
                                                         "time",
                                                         "date-time",
                                                         "duration",
                                                         "email",
                                                         "idn-email",
                                                         "hostname",
                                                         "ipv4",
                                                         "ipv6",
                                                         "uuid",
                                                         "uri",
                                                         "iri",
                                                         "uri-template",
                                                         "uri-reference",
                                                         "iri-reference",
                                                         "json-pointer",
                                                         "relative-json-pointer"};

std::string date() {
  return "(?:[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
         "|02-(?:0[1-9]|1[0-9]|2[0-8]))"
         "|(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)";
}

// RFC 3339. Leap seconds, the last ones of a day in UTC, only where that is plain to see: without an offset.
std::string time() {
  return "(?:(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]+)?(?:[zZ]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
         "|23:59:60(?:\\.[0-9]+)?(?:[zZ]|[+-]00:00))";
}

// ISO 8601 as RFC 3339 appendix A has it.
std::string duration() {
  const std::string time = "T(?:[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S)";
  const std::string date = "(?:[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?|[0-9]+M(?:[0-9]+D)?|[0-9]+D)";
  return "P(?:" + date + "(?:" + time + ")?|" + time + "|[0-9]+W)";
}

std::string ipv4() {
  const std::string octet = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
  return "(?:" + octet + "\\.){3}" + octet;
}

// RFC 4291.
std::string ipv6() {
  const std::string h = "[0-9a-fA-F]{1,4}";
  const std::string hc = "(?:" + h + ":)";
  const std::string last = "(?:" + h + ":" + h + "|" + ipv4() + ")";
  std::string all = "(?:" + hc + "{6}" + last + "|::" + hc + "{5}" + last;
  for (int left = 0; left <= 4; ++left) {
    // So many groups and :: and what may still follow it.
    const std::string before = "(?:" + hc + "{0," + std::to_string(left) + "}" + h + ")?";
    all += "|" + before + "::" + hc + "{" + std::to_string(4 - left) + "}" + last;
  }
  all += "|(?:" + hc + "{0,5}" + h + ")?::" + h + "|(?:" + hc + "{0,6}" + h + ")?::)";
  return all;
}

std::string hostname_label() {
  return "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?";
}

std::string hostname() {
  return hostname_label() + "(?:\\." + hostname_label() + ")*";
}

// RFC 5321. INTERNATIONAL: letters of all scripts in both parts.
std::string email(bool international) {
  const std::string more = international ? "\\u{80}-\\u{10FFFF}" : "";
  const std::string atom = "[a-zA-Z0-9!#$%&'*+/=?^_`{|}~" + more + "-]+";
  const std::string quoted = "\"(?:[ !#-\\[\\]-~" + more + "]|\\\\[ -~])*\"";
  const std::string label = international
                                ? "[a-zA-Z0-9" + more + "](?:[a-zA-Z0-9" + more + "-]{0,61}[a-zA-Z0-9" + more + "])?"
                                : hostname_label();
  return "(?:" + atom + "(?:\\." + atom + ")*|" + quoted + ")@(?:" + label + "(?:\\." + label + ")*|\\[(?:" + ipv4() +
         "|IPv6:" + ipv6() + ")\\])";
}

// RFC 3986, RFC 3987. RELATIVE: references too.
std::string address(bool international, bool relative) {
  const std::string more = international
                               ? "\\u{A0}-\\u{D7FF}\\u{F900}-\\u{FDCF}\\u{FDF0}-\\u{FFEF}\\u{10000}-\\u{1FFFD}"
                                 "\\u{20000}-\\u{2FFFD}\\u{30000}-\\u{DFFFD}\\u{E1000}-\\u{EFFFD}"
                               : "";
  const std::string priv = international ? "\\u{E000}-\\u{F8FF}\\u{F0000}-\\u{FFFFD}\\u{100000}-\\u{10FFFD}" : "";
  const std::string plain = "a-zA-Z0-9._~" + more + "!$&'()*+,;=";
  const std::string escape = "%[0-9a-fA-F]{2}";
  const std::string pchar = "(?:[" + plain + ":@-]|" + escape + ")";
  const std::string user = "(?:(?:[" + plain + ":-]|" + escape + ")*@)?";
  const std::string name = "(?:[" + plain + "-]|" + escape + ")*";
  const std::string host = "(?:\\[(?:" + ipv6() + "|[vV][0-9a-fA-F]+\\.[a-zA-Z0-9._~!$&'()*+,;=:-]+)\\]|" + name + ")";
  const std::string authority = "//" + user + host + "(?::[0-9]*)?";
  const std::string segments = "(?:/" + pchar + "*)*";
  const std::string query = "(?:\\?(?:[" + plain + priv + ":@/?-]|" + escape + ")*)?";
  const std::string fragment = "(?:#(?:[" + plain + ":@/?-]|" + escape + ")*)?";
  const std::string rest = "/(?:" + pchar + "+" + segments + ")?";
  const std::string absolute = "[a-zA-Z][a-zA-Z0-9+.-]*:(?:" + authority + segments + "|" + rest + "|" + pchar + "+" +
                               segments + ")?" + query + fragment;
  if (!relative) return absolute;
  const std::string first = "(?:[" + plain + "@-]|" + escape + ")+";  // no colon: it would be a scheme
  return "(?:" + absolute + "|(?:" + authority + segments + "|" + rest + "|" + first + segments + ")?" + query +
         fragment + ")";
}

// RFC 6570.
std::string uri_template() {
  const std::string escape = "%[0-9a-fA-F]{2}";
  const std::string varchar = "(?:[a-zA-Z0-9_]|" + escape + ")";
  const std::string name = varchar + "(?:\\.?" + varchar + ")*";
  const std::string spec = name + "(?::[1-9][0-9]{0,3}|\\*)?";
  return "(?:[!#$&-;=?-\\[\\]_a-z~\\u{A0}-\\u{10FFFF}]|" + escape + "|\\{[+#./;?&=,!@|]?" + spec + "(?:," + spec +
         ")*\\})*";
}

std::string json_pointer() {
  return "(?:/(?:[^~/]|~[01])*)*";
}

std::string pattern_of(std::string_view format) {
  if (format == "date") return date();
  if (format == "time") return time();
  if (format == "date-time") return date() + "[tT]" + time();
  if (format == "duration") return duration();
  if (format == "email") return email(false);
  if (format == "idn-email") return email(true);
  if (format == "hostname") return hostname();
  if (format == "ipv4") return ipv4();
  if (format == "ipv6") return ipv6();
  if (format == "uuid") return "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}";
  if (format == "uri") return address(false, false);
  if (format == "iri") return address(true, false);
  if (format == "uri-reference") return address(false, true);
  if (format == "iri-reference") return address(true, true);
  if (format == "uri-template") return uri_template();
  if (format == "json-pointer") return json_pointer();
  if (format == "relative-json-pointer") return "(?:0|[1-9][0-9]*)(?:#|" + json_pointer() + ")";
  throw Error(ErrorKind::unsupported, "The format `" + std::string(format) + "` is not supported.");
}

template <std::size_t size>
bool has(const std::array<std::string_view, size>& names, std::string_view name) {
  for (const std::string_view one : names) {
    if (one == name) return true;
  }
  return false;
}

}  // namespace

FormatSupport format_support(std::string_view format) {
  if (has(kSupported, format)) return FormatSupport::supported;
  return has(kUnsupported, format) ? FormatSupport::unsupported : FormatSupport::unknown;
}

DfaPointer format_dfa(std::string_view format) {
  const auto dfa = to_dfa(parse_regex(pattern_of(format)), Match::whole, "The format `" + std::string(format) + "`");
  if (format != "hostname") return dfa;
  // Hyphens in third and fourth place announce a name of other scripts (xn--): most such names are invalid, and which
  // are not is not decided here.
  const auto announced = to_dfa(parse_regex("(?:[^.]*\\.)*[^.]{2}--.*"), Match::whole, "The format `hostname`");
  return limit_lengths(difference(*dfa, *announced), 0, 253);
}

}  // namespace glmhost::constraints
