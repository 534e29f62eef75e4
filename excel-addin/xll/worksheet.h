// The add-in within one Excel: what is registered, and how a cell's call becomes a value.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "excel-addin/functions/add_in.h"
#include "excel-addin/xll/argument_reader.h"
#include "excel-addin/xll/excel.h"
#include "excel-addin/xll/registration.h"
#include "excel-addin/xll/result.h"
#include "excel-addin/xll/rtd_topics.h"

namespace glmhost::xll {

// The name under which Excel finds the RTD server.
inline constexpr char16_t kRtdClass[] = u"GlmHost.Rtd";

// What the catalogue says of an argument, by its place: behind the last one the repeating ones come again. Null when
// the function takes no more.
const functions::ArgumentInfo* argument_info(const functions::FunctionInfo& function, std::size_t argument);

class Worksheet {
 public:
  // `is_preview` tells whether the call at hand is one of the Function Wizard.
  Worksheet(Callback callback, std::function<bool()> is_preview, functions::AddInOptions options = {});

  Worksheet(const Worksheet&) = delete;
  Worksheet& operator=(const Worksheet&) = delete;

  // Registers everything: from xlAutoOpen. False when Excel refused something.
  bool register_all(std::u16string_view module_path, const std::vector<Registration>& registrations);
  void unregister_all();  // from xlAutoRemove

  // A cell's call; never throws. Any calculation thread. Null (Excel shows #NUM!) when there is no memory at all.
  XLOPER12* answer(functions::FunctionId function, std::span<const XLOPER12* const> arguments) noexcept;

  functions::AddIn& functions() { return functions_; }
  RtdTopics& topics() { return topics_; }

 private:
  Result make_answer(functions::FunctionId function, std::span<const XLOPER12* const> arguments);
  // Excel calculates the cell again when the topic changes. False when Excel refuses.
  bool subscribe(const functions::Topic& topic) const;

  const Excel excel_;
  const std::function<bool()> is_preview_;
  functions::AddIn functions_;
  RtdTopics topics_;
  std::mutex mutex_;
  std::vector<std::pair<std::string, double>> registered_;  // guarded by mutex_; names and Excel's numbers
};

}  // namespace glmhost::xll
