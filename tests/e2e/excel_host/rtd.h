// Excel's side of RTD: one server object in the main thread's apartment, topics, and the throttle.
#pragma once

#include <windows.h>

#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "excel-addin/com/rtd_interfaces.h"
#include "tests/e2e/excel_host/rules.h"

namespace excel_host {

class Rtd {
 public:
  explicit Rtd(Violations& violations);
  ~Rtd();

  std::uint64_t throttle_ms = 50;

  // The main thread alone calls these.

  // The topic's number and present value; connects it when it is new. Failure when the server cannot be had.
  int topic(const std::u16string& server, const std::vector<std::u16string>& strings);
  const CellValue& value(int topic) const { return topics_.at(topic).value; }
  void disconnect(int topic);
  std::size_t topics() const { return topics_.size(); }
  std::set<int> numbers() const;

  // The topics that the server says have changed, when it said so and the throttle allows to ask.
  std::vector<int> refresh();
  bool waits_for_throttle() const { return notified_; }

  void end();  // ServerTerminate

 private:
  struct Event;
  struct Topic {
    std::vector<std::u16string> strings;
    CellValue value;
  };

  void start(const std::u16string& server);

  Violations& violations_;
  std::unique_ptr<Event> event_;
  glmhost::com::IRtdServer* server_ = nullptr;
  std::map<int, Topic> topics_;
  int last_topic_ = 0;
  std::atomic<bool> notified_{false};
  std::uint64_t last_refresh_ = 0;
};

}  // namespace excel_host
