#include "excel-addin/xll/excel.h"

#include <algorithm>

#include "excel-addin/formula/text_units.h"

namespace glmhost::xll {

void ExcelValue::free() {
  // Excel marks what it owns with xlbitXLFree only after the call has returned, so the kind of value decides.
  const std::uint32_t kind = type();
  if (kind == xltypeStr || kind == xltypeMulti || (kind == xltypeRef && value_.val.mref.areas != nullptr)) {
    const XLOPER12* argument = &value_;
    callback_(xlFree, 1, &argument, nullptr);
  }
  value_.xltype = xltypeNil;
}

int Excel::call(int function, ExcelValue& result, std::span<const XLOPER12* const> arguments) const {
  result.free();
  result.callback_ = callback_;
  if (callback_ == nullptr) return xlretFailed;
  const int code = callback_(function, static_cast<int>(arguments.size()), arguments.data(), &result.value_);
  if (code != xlretSuccess) result.value_.xltype = xltypeNil;
  return code;
}

CountedText::CountedText(std::u16string_view text) {
  const std::size_t length = std::min(text.size(), kMostCharacters);
  units_.reserve(length + 1);
  units_.push_back(static_cast<XlChar>(length));
  units_.append(text.substr(0, length));
}

CountedText::CountedText(std::string_view utf8) : CountedText(std::u16string_view(formula::to_utf16(utf8))) {}

XLOPER12 CountedText::operator()() const {
  XLOPER12 value{};
  value.val.str = units_.data();
  value.xltype = xltypeStr;
  return value;
}

XLOPER12 number(double value) {
  XLOPER12 made{};
  made.val.num = value;
  made.xltype = xltypeNum;
  return made;
}

XLOPER12 integer(std::int32_t value) {
  XLOPER12 made{};
  made.val.w = value;
  made.xltype = xltypeInt;
  return made;
}

XLOPER12 missing() {
  XLOPER12 made{};
  made.xltype = xltypeMissing;
  return made;
}

XLOPER12 error_value(std::int32_t code) {
  XLOPER12 made{};
  made.val.err = code;
  made.xltype = xltypeErr;
  return made;
}

std::u16string_view text_of(const XLOPER12& value) {
  if ((value.xltype & kTypeMask) != xltypeStr || value.val.str == nullptr) return {};
  return {value.val.str + 1, value.val.str[0]};
}

}  // namespace glmhost::xll
