// The XLL as Excel sees it: its entry points, and the functions, commands and events that it registered.
#pragma once

#include <windows.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tests/e2e/excel_host/rules.h"

namespace excel_host {

struct RegisteredFunction {
  std::string name;  // as cells write it, upper case
  FARPROC entry = nullptr;
  std::vector<std::string> types;  // of the arguments: Q, U, K%
  bool thread_safe = false;
  int macro_type = 1;  // 1: function, 2: command
  std::string argument_names;
  std::string category;
  std::string help;
  std::vector<std::string> argument_help;
  double id = 0;
  std::shared_ptr<std::atomic<std::size_t>> calls = std::make_shared<std::atomic<std::size_t>>(0);
};

class AddIn {
 public:
  AddIn(std::wstring path, Violations& violations, GivenValues& given);

  const std::wstring& path() const { return path_; }

  void load();    // LoadLibrary, xlAutoOpen
  void unload();  // xlAutoRemove, xlAutoClose, FreeLibrary
  void close() { call_auto("xlAutoClose"); }
  bool is_still_mapped() const;

  void run_command(const std::string& name);
  void raise(int event);

  // By the names of cells; nothing when there is no such function.
  const RegisteredFunction* find(const std::string& name) const;
  const std::map<std::string, RegisteredFunction>& functions() const { return functions_; }

  // Calls it within a Visit; frees what it returned. Throws Failure.
  Argument call(const RegisteredFunction& function, const std::vector<Argument>& arguments, const Visit& visit);

  // For the callback, from xlAutoOpen and commands.
  int register_function(const std::vector<const XLOPER12*>& arguments, XLOPER12& result);
  int unregister(double id);
  int set_name(const std::vector<const XLOPER12*>& arguments);
  int register_event(const std::string& procedure, int event);

 private:
  int call_auto(const char* entry);

  std::wstring path_;
  Violations& violations_;
  GivenValues& given_;
  HMODULE module_ = nullptr;
  std::map<std::string, RegisteredFunction> functions_;
  std::map<int, FARPROC> events_;
  double last_id_ = 0;
};

}  // namespace excel_host
