#include "excel-addin/xll/worksheet.h"

#include <algorithm>
#include <exception>

#include "excel-addin/xll/segments.h"

namespace glmhost::xll {

using formula::ErrorCode;
using functions::Argument;
using functions::ArgumentInfo;
using functions::FunctionId;
using functions::FunctionInfo;
using functions::Reply;
using functions::State;

const ArgumentInfo* argument_info(const FunctionInfo& function, std::size_t argument) {
  const std::size_t count = function.arguments.size();
  if (argument < count) return &function.arguments[argument];
  if (function.repeating == 0) return nullptr;
  return &function.arguments[count - function.repeating + (argument - count) % function.repeating];
}

Worksheet::Worksheet(Callback callback, std::function<bool()> is_preview, functions::AddInOptions options)
    : excel_(callback), is_preview_(std::move(is_preview)), functions_(std::move(options)), topics_(functions_) {}

bool Worksheet::register_all(std::u16string_view module_path, const std::vector<Registration>& registrations) {
  const std::lock_guard lock(mutex_);
  bool well = true;
  for (const Registration& each : registrations) {
    const std::optional<double> number = register_with(excel_, module_path, each);
    if (number) registered_.emplace_back(each.name, *number);
    well = well && number.has_value();
  }
  return well;
}

void Worksheet::unregister_all() {
  const std::lock_guard lock(mutex_);
  for (const auto& [name, number] : std::exchange(registered_, {})) unregister(excel_, name, number);
}

bool Worksheet::subscribe(const functions::Topic& topic) const {
  const CountedText server{std::u16string_view(kRtdClass)};
  const CountedText this_computer{std::u16string_view()};
  const CountedText name{std::string_view(topic.text())};
  const XLOPER12 values[] = {server(), this_computer(), name()};
  ExcelValue state = excel_.value();
  return excel_.call(xlfRtd, state, {&values[0], &values[1], &values[2]}) == xlretSuccess && state.type() != xltypeErr;
}

Result Worksheet::make_answer(FunctionId function, std::span<const XLOPER12* const> given) {
  const FunctionInfo& info = functions::info(function);
  // A preview must not begin any work, and the work begins with the question.
  if (info.asks && is_preview_()) return make_result(ErrorCode::getting_data);

  while (!given.empty() && (given.back()->xltype & kTypeMask) == xltypeMissing) given = given.first(given.size() - 1);
  const Caller caller = find_caller(excel_);
  std::vector<Argument> arguments(given.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    const ArgumentInfo* about = argument_info(info, i);
    if (about != nullptr && about->kind == ArgumentInfo::Kind::cell) {
      arguments[i] = place_of(excel_, *given[i], caller);
      // Its value does not matter, but Excel calculates the cell first only when its value is asked for.
      if (is_uncalculated(excel_, *given[i])) return make_result(ErrorCode::not_available);
      continue;
    }
    switch (read_argument(excel_, *given[i], caller, arguments[i])) {
      case ReadOutcome::done:
        break;
      case ReadOutcome::uncalculated:
        return make_result(ErrorCode::not_available);  // nobody will see it
      case ReadOutcome::failed:
        return make_result(ErrorCode::reference);
    }
  }

  std::vector<ranges::Segment> tables;
  for (std::size_t i = 1; function == FunctionId::table && i < arguments.size(); ++i) {
    tables.push_back(make_segment(arguments[i]));
  }
  const auto ask = [&] {
    if (function != FunctionId::table) return functions_.call(function, arguments, caller.cell);
    return functions_.call_table(arguments.empty() ? Argument() : arguments[0], tables, caller.cell);
  };
  Reply reply = ask();
  if (reply.topic) {
    const functions::Topic topic = *reply.topic;
    if (!subscribe(topic)) return make_result(ErrorCode::not_available);
    // It may have come before Excel was listening; then Excel must be told to let go of it.
    reply = ask();
    if (!reply.topic) topics_.nudge(topic);
  }
  return reply.table ? make_result(*reply.table) : make_result(reply.value);
}

XLOPER12* Worksheet::answer(FunctionId function, std::span<const XLOPER12* const> arguments) noexcept {
  try {
    return make_answer(function, arguments).release();
  } catch (const std::exception&) {
    return nullptr;
  }
}

}  // namespace glmhost::xll
