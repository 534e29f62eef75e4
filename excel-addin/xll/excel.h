// Calls into Excel, and what comes back from it.
//
// Thread rules: those of the C API. On a calculation thread only what Excel calls thread-safe may be called; on any
// other thread nothing.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "excel-addin/xll/excel_api.h"

namespace glmhost::xll {

// A value whose memory belongs to Excel. Give it to Excel::call() as the result; it is freed with this.
class ExcelValue {
 public:
  explicit ExcelValue(Callback callback) : callback_(callback) { value_.xltype = xltypeNil; }
  ExcelValue(ExcelValue&& other) noexcept : callback_(other.callback_), value_(other.value_) {
    other.value_.xltype = xltypeNil;
  }
  ExcelValue& operator=(ExcelValue&& other) noexcept {
    std::swap(callback_, other.callback_);
    std::swap(value_, other.value_);
    return *this;
  }
  ~ExcelValue() { free(); }

  const XLOPER12& operator*() const { return value_; }
  const XLOPER12* operator->() const { return &value_; }
  std::uint32_t type() const { return value_.xltype & kTypeMask; }

 private:
  friend class Excel;
  void free();

  Callback callback_;
  XLOPER12 value_{};
};

class Excel {
 public:
  explicit Excel(Callback callback) : callback_(callback) {}

  // The code that Excel returned: xlretSuccess, or what went wrong. The result is freed by its owner.
  int call(int function, ExcelValue& result, std::span<const XLOPER12* const> arguments) const;
  int call(int function, ExcelValue& result, std::initializer_list<const XLOPER12*> arguments) const {
    return call(function, result, std::span(arguments.begin(), arguments.size()));
  }
  ExcelValue value() const { return ExcelValue(callback_); }

 private:
  Callback callback_;
};

// Arguments of a call to Excel: values that own nothing. A text must outlive the value made of it.
class CountedText {
 public:
  // Longer texts are cut to what Excel takes.
  explicit CountedText(std::u16string_view text);
  explicit CountedText(std::string_view utf8);
  XLOPER12 operator()() const;

 private:
  std::u16string units_;  // behind their number
};
XLOPER12 number(double value);
XLOPER12 integer(std::int32_t value);
XLOPER12 missing();
XLOPER12 error_value(std::int32_t code);

// A string that Excel passed; empty when it is none.
std::u16string_view text_of(const XLOPER12& value);

}  // namespace glmhost::xll
