// Excel's callback for tests of what calls it: a sheet of cells, and the memory that it gives and takes back.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "excel-addin/xll/excel_api.h"

namespace glmhost::xll {

// One at a time: a callback has no other way to find it.
class FakeExcel {
 public:
  FakeExcel();
  ~FakeExcel();

  static int GLMHOST_EXCEL_CALL callback(int function, int count, const XLOPER12* const* arguments, XLOPER12* result);

  std::map<std::pair<std::int32_t, std::int32_t>, double> cells;  // row, column
  std::set<std::pair<std::int32_t, std::int32_t>> uncalculated;
  std::size_t cells_given = 0;  // by xlCoerce
  std::vector<std::vector<std::u16string>> registered;
  std::size_t arrays_held() const { return held_.size(); }

 private:
  int coerce(const XLOPER12& argument, XLOPER12& result);
  bool waits(const XlArea& area) const;

  std::map<const void*, std::unique_ptr<XLOPER12[]>> held_;
};

}  // namespace glmhost::xll
