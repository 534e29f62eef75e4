#include "excel-addin/xll/add_in.h"

#include <exception>

#include "excel-addin/formula/text_units.h"
#include "excel-addin/xll/arguments.h"
#include "excel-addin/xll/rtd_class.h"

namespace glmhost::xll {
namespace {

using formula::ErrorCode;
using formula::Value;

}  // namespace

AddIn::AddIn(Callback callback, std::unique_ptr<Answers> answers, std::function<bool()> is_preview)
    : excel_(callback), answers_(std::move(answers)), is_preview_(std::move(is_preview)) {}

bool AddIn::register_all(std::u16string_view module_path, const std::vector<Registration>& registrations) {
  const std::lock_guard lock(mutex_);
  bool well = true;
  for (const Registration& each : registrations) {
    const std::optional<double> number = register_with(excel_, module_path, each);
    if (number) registered_.emplace_back(each.text.name, *number);
    well = well && number.has_value();
  }
  return well;
}

void AddIn::unregister_all() {
  const std::lock_guard lock(mutex_);
  for (const auto& [name, number] : std::exchange(registered_, {})) unregister(excel_, name, number);
}

std::optional<CellPlace> AddIn::caller() const {
  ExcelValue value = excel_.value();
  if (excel_.call(xlfCaller, value, {}) != xlretSuccess) return std::nullopt;
  const std::optional<Reference> reference = reference_of(*value);
  if (!reference) return std::nullopt;  // a macro, a conditional format, ...
  CellPlace place{reference->sheet, reference->areas[0].first_row, reference->areas[0].first_column};
  if (place.sheet == 0) place.sheet = sheet_number(excel_);
  return place;
}

bool AddIn::subscribe(const std::string& topic) const {
  const CountedText server{std::u16string_view(kRtdClass)};
  const CountedText here{std::u16string_view()};
  const CountedText name{std::string_view(topic)};
  const XLOPER12 values[] = {server(), here(), name()};
  ExcelValue state = excel_.value();
  return excel_.call(xlfRtd, state, {&values[0], &values[1], &values[2]}) == xlretSuccess &&
         state.type() != xltypeErr;
}

Result AddIn::make_answer(std::string_view function, std::span<const XLOPER12* const> arguments) {
  std::vector<Value> values(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    switch (to_value(excel_, *arguments[i], values[i])) {
      case ReadOutcome::done: break;
      case ReadOutcome::uncalculated: return make_result(ErrorCode::not_available);
      case ReadOutcome::failed: return make_result(ErrorCode::reference);
    }
  }
  while (!values.empty() && values.back().is_omitted()) values.pop_back();

  const std::optional<CellPlace> place = caller();
  Reply reply = answers_->ask(function, values, true);
  if (reply.state == Reply::State::pending) {
    if (is_preview_()) return make_result(ErrorCode::getting_data);
    reply = answers_->ask(function, values, false);
    if (!subscribe(reply.topic)) {
      reply = {Reply::State::failed, ErrorCode::not_available, reply.topic,
               "Excel does not let this cell wait for its answer (RTD): see that the add-in is installed as its user and "
               "that real-time data are not blocked by a policy."};
    } else {
      // It may have come in the meantime.
      reply = answers_->ask(function, values, true);
    }
  }
  std::optional<Value> earlier;
  if (place) earlier = cells_.tell(*place, function, reply);
  if (reply.state != Reply::State::pending) return make_result(reply.value);
  return make_result(earlier ? *earlier : Value(ErrorCode::getting_data));
}

XLOPER12* AddIn::answer(std::string_view function, std::span<const XLOPER12* const> arguments) noexcept {
  try {
    return make_answer(function, arguments).release();
  } catch (const std::exception&) {
    return nullptr;
  }
}

std::optional<CellMemory::Told> AddIn::told(const XLOPER12& cell) {
  const std::optional<Reference> reference = reference_of(cell);
  if (!reference) return std::nullopt;
  CellPlace place{reference->sheet, reference->areas[0].first_row, reference->areas[0].first_column};
  if (place.sheet == 0) place.sheet = sheet_number(excel_);
  return cells_.told(place);
}

XLOPER12* AddIn::status(const XLOPER12& cell) noexcept {
  try {
    if (!is_reference(cell)) return make_result(ErrorCode::value).release();
    const std::optional<CellMemory::Told> found = told(cell);
    if (!found) return make_result(ErrorCode::not_available).release();  // no function of ours has answered there
    constexpr std::string_view kStates[] = {"done", "pending", "failed"};
    std::string text(kStates[static_cast<std::size_t>(found->reply.state)]);
    if (!found->reply.sentence.empty()) text += ": " + found->reply.sentence;
    return make_result(Value(std::move(text))).release();
  } catch (const std::exception&) {
    return nullptr;
  }
}

XLOPER12* AddIn::error_sentence(const XLOPER12& cell) noexcept {
  try {
    if (!is_reference(cell)) return make_result(ErrorCode::value).release();
    const std::optional<CellMemory::Told> found = told(cell);
    const bool failed = found && found->reply.state == Reply::State::failed;
    return make_result(Value(failed ? found->reply.sentence : std::string())).release();
  } catch (const std::exception&) {
    return nullptr;
  }
}

}  // namespace glmhost::xll
