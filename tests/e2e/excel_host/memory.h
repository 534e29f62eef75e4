// Values as Excel passes them: in pages that nobody may write to, and that are gone once they are freed.
#pragma once

#include <memory>
#include <vector>

#include "tests/e2e/excel_host/values.h"

namespace excel_host {

using glmhost::xll::XLOPER12;

struct Argument {
  enum class Kind { missing, value, array, reference, numbers };
  Kind kind = Kind::missing;
  CellValue value;
  Grid grid;                 // array, numbers
  std::vector<Range> areas;  // reference
  int own_sheet = 0;         // a single area there is passed without its sheet
};

std::uintptr_t sheet_number(int sheet);
int sheet_of_number(std::uintptr_t number);  // -1: there is none

class GuardedValues {
 public:
  explicit GuardedValues(const std::vector<Argument>& arguments);

  // An XLOPER12, or an FP12 for numbers.
  const void* operator[](std::size_t index) const { return places_[index]; }

  // The value alone, for a result that Excel writes where it was told to.
  const XLOPER12& value(std::size_t index) const { return *static_cast<const XLOPER12*>(places_[index]); }
  const void* memory() const { return pages_.get(); }

 private:
  struct Release {
    void operator()(void* pages) const;
  };
  std::unique_ptr<void, Release> pages_;
  std::vector<const void*> places_;
};

// Reads what the add-in returned. Throws Failure for a value that Excel would choke on.
Argument take_result(const XLOPER12* result);

}  // namespace excel_host
