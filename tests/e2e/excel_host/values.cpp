#include "tests/e2e/excel_host/values.h"

#include <array>
#include <cstdio>
#include <utility>

#include "excel-addin/formula/text_units.h"

namespace excel_host {
namespace {

using namespace glmhost::xll;

constexpr std::array<std::pair<std::int32_t, std::string_view>, 9> kErrors = {{{xlerrNull, "#NULL!"},
                                                                               {xlerrDiv0, "#DIV/0!"},
                                                                               {xlerrValue, "#VALUE!"},
                                                                               {xlerrRef, "#REF!"},
                                                                               {xlerrName, "#NAME?"},
                                                                               {xlerrNum, "#NUM!"},
                                                                               {xlerrNA, "#N/A"},
                                                                               {xlerrGettingData, "#GETTING_DATA"},
                                                                               {kSpillError, "#SPILL!"}}};

}  // namespace

bool is_pending(const CellValue& value) {
  const auto* error = std::get_if<CellError>(&value);
  return error != nullptr && error->code == xlerrGettingData;
}

std::string show(const CellValue& value) {
  if (const auto* number = std::get_if<double>(&value)) {
    char text[40];
    std::snprintf(text, sizeof(text), "%.17g", *number);
    return text;
  }
  if (const auto* text = std::get_if<std::u16string>(&value)) {
    std::string shown = "\"";
    for (const char c : to_utf8(*text)) {
      if (c == '\n') {
        shown += "\\n";
      } else {
        if (c == '"') shown += c;
        shown += c;
      }
    }
    return shown + '"';
  }
  if (const auto* boolean = std::get_if<bool>(&value)) return *boolean ? "TRUE" : "FALSE";
  if (const auto* error = std::get_if<CellError>(&value)) {
    for (const auto& [code, name] : kErrors) {
      if (code == error->code) return std::string(name);
    }
    return "error " + std::to_string(error->code);
  }
  return "empty";
}

std::string show(const Place& place) {
  std::string letters;
  for (std::int32_t n = place.column + 1; n > 0; n = (n - 1) / 26) {
    letters.insert(letters.begin(), static_cast<char>('A' + (n - 1) % 26));
  }
  const std::string sheet = place.sheet == 0 ? "" : "Sheet" + std::to_string(place.sheet + 1) + "!";
  return sheet + letters + std::to_string(place.row + 1);
}

std::string to_utf8(std::u16string_view text) {
  return glmhost::formula::valid_utf8(glmhost::formula::from_utf16(text));
}
std::u16string to_utf16(std::string_view text) {
  return glmhost::formula::to_utf16(text);
}
std::u16string to_utf16(std::wstring_view text) {
  return {text.begin(), text.end()};
}
std::wstring to_wide(std::u16string_view text) {
  return {text.begin(), text.end()};
}

std::int32_t error_named(std::string_view name) {
  for (const auto& [code, known] : kErrors) {
    if (known == name) return code;
  }
  return -1;
}

}  // namespace excel_host
