// The rules of the C API: which thread may call what, and what must be freed.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "tests/e2e/excel_host/memory.h"

namespace excel_host {

// Rules that were broken. From any thread.
class Violations {
 public:
  void add(std::string sentence);
  std::vector<std::string> take();

 private:
  std::mutex mutex_;
  std::vector<std::string> sentences_;
};

// What the add-in is doing on a thread. None: it must not call Excel.
struct Visit {
  enum class Kind { command, function, thread_safe_function };
  Kind kind = Kind::command;
  std::string name;
  Place caller;
  std::set<int> topics;       // that the function asked for
  bool uncalculated = false;  // Excel will call it again
};

class VisitScope {
 public:
  explicit VisitScope(Visit& visit);
  ~VisitScope();

 private:
  Visit* before_;
};
Visit* current_visit();

// While it lives, a call into Excel from this thread is a violation: within RTD and COM calls.
class NoVisit {
 public:
  NoVisit();
  ~NoVisit();

 private:
  Visit* before_;
};

// Values that Excel gave to the add-in, until xlFree.
class GivenValues {
 public:
  explicit GivenValues(Violations& violations) : violations_(violations) {}

  void give(const Argument& value, const char* by, XLOPER12& out);
  bool free(const XLOPER12& value);
  void check_all_freed(const std::string& when);

 private:
  struct Given {
    std::unique_ptr<GuardedValues> memory;
    std::string by;
    unsigned long thread;
  };
  Violations& violations_;
  std::mutex mutex_;
  std::map<const void*, Given> given_;
};

}  // namespace excel_host
