#include "tests/e2e/excel_host/host.h"

#include <objbase.h>

#include <algorithm>
#include <cmath>
#include <thread>
#include <utility>

namespace excel_host {
namespace {

using namespace glmhost::xll;

Host* the_host = nullptr;

constexpr wchar_t kMainClass[] = L"XLMAIN";
constexpr wchar_t kDialogClass[] = L"bosa_sdm_XL9";  // of the Function Wizard, among others

HWND make_window(const wchar_t* window_class, const wchar_t* title, HWND owner) {
  WNDCLASSW description{};
  description.lpfnWndProc = DefWindowProcW;
  description.hInstance = GetModuleHandleW(nullptr);
  description.lpszClassName = window_class;
  RegisterClassW(&description);
  const HWND window = CreateWindowExW(0, window_class, title, WS_POPUP | WS_VISIBLE, 0, 0, 10, 10, owner, nullptr,
                                      description.hInstance, nullptr);
  if (window == nullptr) throw Failure{"no window can be made: error " + std::to_string(GetLastError())};
  return window;
}

Argument value_argument(CellValue value) {
  Argument argument;
  argument.kind = Argument::Kind::value;
  argument.value = std::move(value);
  return argument;
}

const CellValue& first_value(const Argument& argument) {
  return argument.kind == Argument::Kind::array ? argument.grid.cells.at(0) : argument.value;
}

std::u16string joined_text(const CellValue& value) {
  if (const auto* text = std::get_if<std::u16string>(&value)) return *text;
  if (const auto* number = std::get_if<double>(&value)) {
    char text[32];
    std::snprintf(text, sizeof(text), "%.15g", *number);
    return to_utf16(std::string_view(text));
  }
  return std::holds_alternative<Empty>(value) ? std::u16string() : to_utf16(show(value));
}

// Excel's own functions, as far as workbooks here use them.
std::optional<CellValue> own_function(const std::string& name, const std::vector<Argument>& arguments) {
  const CellValue none;
  const CellValue& value = arguments.empty() ? none : first_value(arguments[0]);
  const bool is_error = std::holds_alternative<CellError>(value);
  if (name == "ISERROR") return is_error;
  if (name == "ISTEXT") return std::holds_alternative<std::u16string>(value);
  if (name == "ISNUMBER") return std::holds_alternative<double>(value);
  if (name == "LEN") {
    if (is_error) return value;
    return static_cast<double>(joined_text(value).size());
  }
  if (name == "SUM") {
    double sum = 0;
    for (const Argument& argument : arguments) {
      const std::vector<CellValue> one{argument.value};
      for (const CellValue& each : argument.kind == Argument::Kind::array ? argument.grid.cells : one) {
        if (std::holds_alternative<CellError>(each)) return each;
        if (const auto* number = std::get_if<double>(&each)) sum += *number;
      }
    }
    return sum;
  }
  return std::nullopt;
}

}  // namespace

Host::Host(std::wstring xll) : add_in(std::move(xll), violations, given), main_thread_(GetCurrentThreadId()) {
  the_host = this;
  CoInitializeEx(nullptr, COINIT_APARTMENTTHREADED);
  window_ = make_window(kMainClass, L"Book1 - Excel", nullptr);
}

Host::~Host() {
  DestroyWindow(window_);
  CoUninitialize();
}

Host& Host::instance() {
  return *the_host;
}

bool Host::is_thread_safe(const Term& term) const {
  if (term.kind == Term::Kind::call) {
    const RegisteredFunction* function = add_in.find(term.name);
    if (function != nullptr && !function->thread_safe) return false;
  }
  return std::ranges::all_of(term.arguments, [&](const Term& each) { return is_thread_safe(each); });
}

std::vector<Argument> Host::arguments_for(const Term& call, const RegisteredFunction& function, Visit& visit,
                                          bool safe) {
  std::vector<Argument> arguments;
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    const std::string& type = function.types[i];
    Argument argument = evaluate(call.arguments[i], visit, safe, type == "U");
    if (type == "K%" && !visit.uncalculated) {
      if (argument.kind == Argument::Kind::value) argument.grid = {1, 1, {argument.value}};
      argument.kind = Argument::Kind::numbers;
      for (CellValue& cell : argument.grid.cells) {
        if (std::holds_alternative<Empty>(cell)) cell = 0.0;
        if (!std::holds_alternative<double>(cell)) argument.kind = Argument::Kind::missing;
      }
    }
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

Argument Host::evaluate(const Term& term, Visit& visit, bool thread_safe, bool references) {
  switch (term.kind) {
    case Term::Kind::omitted:
      return {};
    case Term::Kind::literal:
      return value_argument(term.value);
    case Term::Kind::several_sheets:
      return value_argument(CellError{xlerrValue});
    case Term::Kind::reference: {
      if (term.broken) return value_argument(CellError{xlerrRef});
      Argument argument;
      for (const Term::Area& area : term.areas) argument.areas.push_back(range_of(term, area, visit.caller.sheet));
      argument.own_sheet = visit.caller.sheet;
      argument.kind = Argument::Kind::reference;
      if (references) return argument;
      if (argument.areas.size() > 1) return value_argument(CellError{xlerrValue});
      if (book.has_dirty(argument.areas[0])) {
        visit.uncalculated = true;
        return {};
      }
      argument.grid = book.grid(argument.areas[0]);
      argument.kind = Argument::Kind::array;
      return argument.grid.cells.size() == 1 ? value_argument(argument.grid.cells[0]) : argument;
    }
    case Term::Kind::joined: {
      std::u16string text;
      for (const Term& each : term.arguments) {
        const Argument part = evaluate(each, visit, thread_safe, false);
        if (std::holds_alternative<CellError>(first_value(part))) return value_argument(first_value(part));
        text += joined_text(first_value(part));
      }
      return value_argument(std::move(text));
    }
    case Term::Kind::call:
      break;
  }
  const RegisteredFunction* function = add_in.find(term.name);
  if (function == nullptr || function->macro_type != 1) {
    std::vector<Argument> arguments;
    for (const Term& each : term.arguments) arguments.push_back(evaluate(each, visit, thread_safe, false));
    if (visit.uncalculated) return {};
    const std::optional<CellValue> value = own_function(term.name, arguments);
    return value_argument(value ? *value : CellValue(CellError{xlerrName}));
  }
  if (term.arguments.size() > function->types.size()) {
    throw Failure{term.name + " takes " + std::to_string(function->types.size()) +
                  " arguments; Excel does not let this formula be typed"};
  }
  // Excel passes no reference through several sheets.
  if (std::ranges::any_of(term.arguments, [](const Term& each) { return each.kind == Term::Kind::several_sheets; })) {
    return value_argument(CellError{xlerrValue});
  }
  const std::vector<Argument> arguments = arguments_for(term, *function, visit, thread_safe);
  if (visit.uncalculated) return {};
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (function->types[i] == "K%" && arguments[i].kind != Argument::Kind::numbers) {
      return value_argument(CellError{xlerrValue});
    }
  }
  visit.name = term.name;
  visit.kind = function->thread_safe ? Visit::Kind::thread_safe_function : Visit::Kind::function;
  const VisitScope scope(visit);
  return add_in.call(*function, arguments, visit);
}

Host::Calculated Host::evaluate(const Place& place, const Term& formula, bool thread_safe) {
  Visit visit;
  visit.caller = place;
  Calculated calculated;
  try {
    calculated.value = evaluate(formula, visit, thread_safe, false);
    // A whole formula that is a reference shows its first cell; that it can be one needs no more here.
    if (calculated.value.kind == Argument::Kind::missing) calculated.value = value_argument(Empty{});
  } catch (const Failure& failure) {
    violations.add(show(place) + ": " + failure.sentence);
    calculated.value = value_argument(CellError{xlerrValue});
  }
  calculated.topics = std::move(visit.topics);
  calculated.uncalculated = visit.uncalculated;
  return calculated;
}

void Host::apply(const Place& place, Calculated calculated) {
  Cell& cell = book.cells()[place];
  cell.topics = std::move(calculated.topics);
  book.store(place, std::move(calculated.value));
}

// Newest first, as Excel begins; what met an uncalculated cell waits until all that it names is calculated.
std::vector<Place> Host::ready(const std::set<Place>& wait_for_all) const {
  std::vector<Place> places;
  for (const auto& [place, cell] : book.cells()) {
    if (!cell.dirty || !cell.formula) continue;
    bool waits = false;
    if (wait_for_all.contains(place)) {
      for_each_reference(*cell.formula, [&, sheet = place.sheet](const Term& reference) {
        for (const Term::Area& area : reference.areas)
          waits = waits || book.has_dirty(range_of(reference, area, sheet));
      });
    }
    if (!waits) places.push_back(place);
  }
  std::ranges::reverse(places);
  return places;
}

void Host::on_main_thread(const std::function<void()>& work) {
  if (GetCurrentThreadId() == main_thread_) return work();
  bool done = false;
  std::unique_lock lock(requests_mutex_);
  requests_.emplace_back(&work, &done);
  request_came_.notify_one();
  request_done_.wait(lock, [&] { return done; });
}

bool Host::serve_main_requests(std::uint64_t milliseconds) {
  std::unique_lock lock(requests_mutex_);
  request_came_.wait_for(lock, std::chrono::milliseconds(milliseconds), [&] { return !requests_.empty(); });
  if (requests_.empty()) return false;
  const auto requests = std::exchange(requests_, {});
  lock.unlock();
  for (const auto& [work, done] : requests) (*work)();
  lock.lock();
  for (const auto& [work, done] : requests) *done = true;
  request_done_.notify_all();
  return true;
}

void Host::run_round(const std::vector<Place>& places, std::set<Place>& wait_for_all) {
  std::vector<std::optional<Calculated>> results(places.size());
  std::vector<std::size_t> on_threads, on_main;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const bool safe = threads > 0 && is_thread_safe(*book.find(places[i])->formula);
    (safe ? on_threads : on_main).push_back(i);
  }
  const auto stop = [&] {
    if (esc_after && cells_done_ >= *esc_after) escaped_ = true;
    return escaped_.load();
  };
  std::atomic<std::size_t> next{0};
  std::atomic<std::size_t> running{threads};
  std::vector<std::thread> pool;
  if (!on_threads.empty()) {
    for (std::size_t t = 0; t < threads; ++t) {
      pool.emplace_back([&] {
        for (std::size_t i = next++; i < on_threads.size() && !stop(); i = next++) {
          const Place& place = places[on_threads[i]];
          results[on_threads[i]] = evaluate(place, *book.find(place)->formula, true);
          ++cells_done_;
        }
        --running;
      });
    }
    while (running > 0) serve_main_requests(1);
    while (serve_main_requests(0)) {
    }
    for (std::thread& thread : pool) thread.join();
  }
  for (const std::size_t i : on_main) {
    if (stop()) break;
    results[i] = evaluate(places[i], *book.find(places[i])->formula, false);
    ++cells_done_;
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (!results[i]) continue;
    if (results[i]->uncalculated) {
      wait_for_all.insert(places[i]);
      continue;
    }
    wait_for_all.erase(places[i]);
    apply(places[i], std::move(*results[i]));
  }
}

void Host::calculate() {
  std::set<Place> wait_for_all;
  cells_done_ = 0;
  escaped_ = false;
  bool any = false;
  for (std::size_t round = 0; !escaped_; ++round) {
    const std::vector<Place> places = ready(wait_for_all);
    if (places.empty()) {
      if (!wait_for_all.empty()) throw Failure{"a circular reference: " + show(*wait_for_all.begin())};
      break;
    }
    if (round > 10'000) throw Failure{"the calculation does not come to an end at " + show(places[0])};
    any = true;
    run_round(places, wait_for_all);
  }
  esc_after.reset();
  if (!any) return;
  disconnect_unused_topics();
  if (escaped_) add_in.raise(xleventCalculationCanceled);
  escaped_ = false;
  add_in.raise(xleventCalculationEnded);
}

void Host::disconnect_unused_topics() {
  std::set<int> used;
  for (const auto& [place, cell] : book.cells()) used.insert(cell.topics.begin(), cell.topics.end());
  for (const int topic : rtd.numbers()) {
    if (!used.contains(topic)) rtd.disconnect(topic);
  }
}

void Host::pump(std::uint64_t milliseconds, const std::function<bool()>& until) {
  const std::uint64_t end = GetTickCount64() + milliseconds;
  for (;;) {
    MSG message;
    while (PeekMessageW(&message, nullptr, 0, 0, PM_REMOVE)) DispatchMessageW(&message);
    const std::vector<int> changed = rtd.refresh();
    if (!changed.empty()) {
      std::vector<Place> dirty;
      for (const auto& [place, cell] : book.cells()) {
        if (std::ranges::any_of(changed, [&](int topic) { return cell.topics.contains(topic); }))
          dirty.push_back(place);
      }
      for (const Place& place : dirty) book.make_dirty(place);
      calculate_if_automatic();
    }
    if (until && until()) return;
    const std::uint64_t now = GetTickCount64();
    if (now >= end) return;
    MsgWaitForMultipleObjects(0, nullptr, FALSE, static_cast<DWORD>(std::min<std::uint64_t>(10, end - now)),
                              QS_ALLINPUT);
  }
}

Argument Host::preview(const Term& formula) {
  const HWND wizard = make_window(kDialogClass, L"Function Arguments", window_);
  Visit visit;
  Argument value = evaluate(formula, visit, false, false);
  if (!visit.topics.empty()) violations.add("the Function Wizard's preview connected RTD topics");
  DestroyWindow(wizard);
  disconnect_unused_topics();
  return value;
}

}  // namespace excel_host
