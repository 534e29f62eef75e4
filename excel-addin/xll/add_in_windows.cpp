#include <exception>

#include "excel-addin/com/registration.h"
#include "excel-addin/formula/text_units.h"
#include "excel-addin/xll/add_in.h"
#include "excel-addin/xll/entry_points.h"
#include "excel-addin/xll/module.h"

namespace glmhost::xll {
namespace {

class NoTopics final : public com::Topics {
 public:
  std::uint64_t watch(const std::string&, std::function<void()>) override { return 0; }
  void unwatch(std::uint64_t) override {}
  std::string value(const std::string&) override { return "unknown"; }
};

}  // namespace

AddIn& AddIn::instance() {
  static AddIn* const only = new AddIn;
  return *only;
}

AddIn::AddIn() : excel_(find_callback()), topics_(std::make_unique<NoTopics>()) {}

bool AddIn::open() {
  pin_module();
  const std::u16string path = module_path();
  com::register_classes(std::wstring(path.begin(), path.end()));
  const std::lock_guard lock(mutex_);
  bool well = true;
  for (const Registration& each : registrations()) {
    const std::optional<double> number = register_with(excel_, path, each);
    if (number) registered_.emplace_back(each.text.name, *number);
    well = well && number.has_value();
  }
  return well;
}

void AddIn::remove() {
  const std::lock_guard lock(mutex_);
  for (const auto& [name, number] : std::exchange(registered_, {})) unregister(excel_, name, number);
}

XLOPER12* AddIn::answer(std::string_view function, std::span<const XLOPER12* const>) noexcept {
  try {
    if (function == "GLM.VERSION") return make_result(formula::Value(GLMHOST_VERSION)).release();
    return make_result(formula::ErrorCode::name).release();
  } catch (const std::exception&) {
    return nullptr;
  }
}

}  // namespace glmhost::xll
