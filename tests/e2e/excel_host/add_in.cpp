#include "tests/e2e/excel_host/add_in.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace excel_host {
namespace {

using namespace glmhost::xll;

constexpr std::size_t kMostParameters = 80;

std::u16string_view text(const XLOPER12& value) {
  if ((value.xltype & kTypeMask) != xltypeStr) return {};
  return {value.val.str + 1, value.val.str[0]};
}

// A function that takes fewer parameters never looks at the others: on 64-bit Windows the caller clears the stack.
template <std::size_t... i>
XLOPER12* call_entry(FARPROC entry, const std::array<const void*, kMostParameters>& arguments,
                     std::index_sequence<i...>) {
  using Function = XLOPER12* (*)(decltype((void)i, static_cast<const void*>(nullptr))...);
  return reinterpret_cast<Function>(reinterpret_cast<void*>(entry))(arguments[i]...);
}

// "Q", "U" and "K%" behind the letter of what is returned; nothing for what this host does not know.
std::optional<std::vector<std::string>> parse_types(std::string letters, bool& thread_safe) {
  thread_safe = !letters.empty() && letters.back() == '$';
  if (thread_safe) letters.pop_back();
  if (letters.empty() || (letters[0] != 'Q' && letters[0] != 'U')) return std::nullopt;
  std::vector<std::string> types;
  for (std::size_t i = 1; i < letters.size(); ++i) {
    if (letters[i] == 'Q' || letters[i] == 'U') {
      types.emplace_back(1, letters[i]);
    } else if (letters.substr(i, 2) == "K%") {
      types.emplace_back("K%");
      ++i;
    } else {
      return std::nullopt;
    }
  }
  return types;
}

}  // namespace

AddIn::AddIn(std::wstring path, Violations& violations, GivenValues& given)
    : path_(std::move(path)), violations_(violations), given_(given) {}

void AddIn::load() {
  module_ = LoadLibraryW(path_.c_str());
  if (module_ == nullptr) throw Failure{"the XLL cannot be loaded: error " + std::to_string(GetLastError())};
  if (call_auto("xlAutoOpen") != 1) violations_.add("xlAutoOpen did not return 1");
}

int AddIn::call_auto(const char* entry) {
  const FARPROC address = GetProcAddress(module_, entry);
  if (address == nullptr) return -1;
  Visit visit{Visit::Kind::command, entry, {}, {}, false};
  const VisitScope scope(visit);
  const int result = reinterpret_cast<int (*)()>(reinterpret_cast<void*>(address))();
  given_.check_all_freed(entry);
  return result;
}

void AddIn::unload() {
  call_auto("xlAutoRemove");
  call_auto("xlAutoClose");
  for (const auto& [name, function] : functions_) {
    if (function.macro_type == 1)
      violations_.add(name + " is still in the Function Wizard after the add-in was removed");
  }
  functions_.clear();
  events_.clear();
  FreeLibrary(std::exchange(module_, nullptr));
}

bool AddIn::is_still_mapped() const {
  const std::size_t slash = path_.find_last_of(L"\\/");
  return GetModuleHandleW(path_.c_str() + (slash == std::wstring::npos ? 0 : slash + 1)) != nullptr;
}

void AddIn::run_command(const std::string& name) {
  const RegisteredFunction* command = find(name);
  if (command == nullptr || command->macro_type != 2) throw Failure{"there is no command " + name};
  Visit visit{Visit::Kind::command, name, {}, {}, false};
  const VisitScope scope(visit);
  reinterpret_cast<int (*)()>(reinterpret_cast<void*>(command->entry))();
  given_.check_all_freed(name);
}

void AddIn::raise(int event) {
  const auto found = events_.find(event);
  if (found == events_.end()) return;
  Visit visit{Visit::Kind::command, "event " + std::to_string(event), {}, {}, false};
  const VisitScope scope(visit);
  reinterpret_cast<int (*)()>(reinterpret_cast<void*>(found->second))();
  given_.check_all_freed(visit.name);
}

const RegisteredFunction* AddIn::find(const std::string& name) const {
  const auto found = functions_.find(name);
  return found == functions_.end() ? nullptr : &found->second;
}

Argument AddIn::call(const RegisteredFunction& function, const std::vector<Argument>& arguments, const Visit& visit) {
  ++*function.calls;
  std::array<const void*, kMostParameters> pointers{};
  std::vector<Argument> padded = arguments;
  padded.resize(function.types.size());
  const GuardedValues guarded(padded);
  for (std::size_t i = 0; i < padded.size(); ++i) pointers[i] = guarded[i];
  XLOPER12* result = call_entry(function.entry, pointers, std::make_index_sequence<kMostParameters>());
  given_.check_all_freed(function.name + " in " + show(visit.caller));
  if (result == nullptr) {
    Argument number_error;
    number_error.kind = Argument::Kind::value;
    number_error.value = CellError{xlerrNum};
    violations_.add(function.name + " returned a null pointer");
    return number_error;
  }
  if ((result->xltype & xlbitDLLFree) == 0) {
    throw Failure{function.name + " returned a value that Excel may not give back by xlAutoFree12"};
  }
  std::string problem;
  Argument taken;
  try {
    taken = take_result(result);
  } catch (const Failure& failure) {
    problem = failure.sentence;
  }
  const FARPROC free = GetProcAddress(module_, "xlAutoFree12");
  if (free == nullptr) throw Failure{"the XLL exports no xlAutoFree12"};
  {
    const NoVisit no_calls;
    reinterpret_cast<void (*)(XLOPER12*)>(reinterpret_cast<void*>(free))(result);
  }
  if (!problem.empty()) throw Failure{function.name + ": " + problem};
  return taken;
}

int AddIn::register_function(const std::vector<const XLOPER12*>& arguments, XLOPER12& result) {
  result.xltype = xltypeErr;
  result.val.err = xlerrValue;
  if (arguments.size() < 4 || arguments.size() > kMostArguments) {
    violations_.add("xlfRegister was given " + std::to_string(arguments.size()) + " arguments");
    return xlretInvCount;
  }
  const auto string_at = [&](std::size_t i) {
    return i < arguments.size() ? to_utf8(text(*arguments[i])) : std::string();
  };
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    if (text(*arguments[i]).size() > 255) {
      violations_.add("xlfRegister was given a text of more than 255 characters: " + string_at(i));
      return xlretFailed;
    }
  }
  if (to_wide(text(*arguments[0])) != path_) violations_.add("xlfRegister was given another module: " + string_at(0));
  RegisteredFunction function;
  const std::string procedure = string_at(1);
  function.entry = GetProcAddress(module_, procedure.c_str());
  if (function.entry == nullptr) {
    violations_.add("xlfRegister names " + procedure + ", which the XLL does not export");
    return xlretFailed;
  }
  function.name = string_at(3);
  std::ranges::transform(function.name, function.name.begin(),
                         [](char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); });
  function.argument_names = string_at(4);
  const XLOPER12* kind = arguments.size() > 5 ? arguments[5] : nullptr;
  if (kind != nullptr && (kind->xltype & kTypeMask) == xltypeNum) function.macro_type = static_cast<int>(kind->val.num);
  if (kind != nullptr && (kind->xltype & kTypeMask) == xltypeInt) function.macro_type = kind->val.w;
  function.category = string_at(6);
  function.help = string_at(9);
  for (std::size_t i = 10; i < arguments.size(); ++i) function.argument_help.push_back(string_at(i));
  // Excel loses the end of the last one.
  if (!function.argument_help.empty()) {
    std::string& last = function.argument_help.back();
    last.resize(last.size() - std::min<std::size_t>(2, last.size()));
    if (last.empty()) function.argument_help.pop_back();
  }
  const std::string letters = string_at(2);
  if (function.macro_type == 1) {
    const auto types = parse_types(letters, function.thread_safe);
    if (!types || types->size() > kMostParameters) {
      violations_.add(function.name + " is registered with the types " + letters);
      return xlretFailed;
    }
    function.types = *types;
  }
  if (functions_.contains(function.name)) violations_.add(function.name + " is registered twice");
  function.id = ++last_id_;
  result.val.num = function.id;
  result.xltype = xltypeNum;
  functions_[function.name] = std::move(function);
  return xlretSuccess;
}

int AddIn::unregister(double id) {
  for (const auto& [name, function] : functions_) {
    if (function.id == id) return xlretSuccess;  // its name stays in the Function Wizard until xlfSetName takes it away
  }
  violations_.add("xlfUnregister was given an unknown number");
  return xlretFailed;
}

int AddIn::set_name(const std::vector<const XLOPER12*>& arguments) {
  if (arguments.size() == 1) functions_.erase(to_utf8(text(*arguments[0])));
  return xlretSuccess;
}

int AddIn::register_event(const std::string& procedure, int event) {
  const FARPROC entry = GetProcAddress(module_, procedure.c_str());
  if (entry == nullptr || (event != xleventCalculationEnded && event != xleventCalculationCanceled)) {
    violations_.add("xlEventRegister was given " + procedure + " and " + std::to_string(event));
    return xlretFailed;
  }
  events_[event] = entry;
  return xlretSuccess;
}

}  // namespace excel_host
