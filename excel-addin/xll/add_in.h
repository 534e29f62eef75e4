// The add-in within one Excel: what is registered, and how a cell's call becomes a value.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "excel-addin/com/topics.h"
#include "excel-addin/xll/excel.h"
#include "excel-addin/xll/registration.h"
#include "excel-addin/xll/result.h"

namespace glmhost::xll {

class AddIn {
 public:
  // The only one in the process. It is never destroyed: Excel may call functions until its very end, and RTD objects
  // outlive xlAutoClose.
  static AddIn& instance();

  AddIn(const AddIn&) = delete;
  AddIn& operator=(const AddIn&) = delete;

  // xlAutoOpen and xlAutoRemove. Excel's own thread.
  bool open();
  void remove();

  // A cell's call; never throws. Any calculation thread. Null (Excel shows #NUM!) when there is no memory at all.
  XLOPER12* answer(std::string_view function, std::span<const XLOPER12* const> arguments) noexcept;

  com::Topics& topics() { return *topics_; }

 private:
  AddIn();

  const Excel excel_;
  const std::unique_ptr<com::Topics> topics_;
  std::mutex mutex_;
  std::vector<std::pair<std::string, double>> registered_;  // guarded by mutex_; names and Excel's numbers
};

}  // namespace glmhost::xll
