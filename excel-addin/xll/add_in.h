// The add-in within one Excel: what is registered, and how a cell's call becomes a value.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "excel-addin/xll/answers.h"
#include "excel-addin/xll/cell_memory.h"
#include "excel-addin/xll/excel.h"
#include "excel-addin/xll/registration.h"
#include "excel-addin/xll/result.h"

namespace glmhost::xll {

class AddIn {
 public:
  // `is_preview` tells whether the call at hand is one of the Function Wizard.
  AddIn(Callback callback, std::unique_ptr<Answers> answers, std::function<bool()> is_preview);

  AddIn(const AddIn&) = delete;
  AddIn& operator=(const AddIn&) = delete;

  // Registers everything: from xlAutoOpen. False when Excel refused something.
  bool register_all(std::u16string_view module_path, const std::vector<Registration>& registrations);
  void unregister_all();  // from xlAutoRemove

  // A cell's call; never throws. Any calculation thread. Null (Excel shows #NUM!) when there is no memory at all.
  XLOPER12* answer(std::string_view function, std::span<const XLOPER12* const> arguments) noexcept;

  // GLM.STATUS and GLM.ERROR: about a cell, which is not read.
  XLOPER12* status(const XLOPER12& cell) noexcept;
  XLOPER12* error_sentence(const XLOPER12& cell) noexcept;

  void cancel_all() { answers_->cancel_all(); }
  Answers& answers() { return *answers_; }

 private:
  Result make_answer(std::string_view function, std::span<const XLOPER12* const> arguments);
  std::optional<CellPlace> caller() const;
  std::optional<CellMemory::Told> told(const XLOPER12& cell);
  // Excel calculates the cell again when the topic changes. False when Excel refuses.
  bool subscribe(const std::string& topic) const;

  const Excel excel_;
  const std::unique_ptr<Answers> answers_;
  const std::function<bool()> is_preview_;
  CellMemory cells_;
  std::mutex mutex_;
  std::vector<std::pair<std::string, double>> registered_;  // guarded by mutex_; names and Excel's numbers
};

}  // namespace glmhost::xll
