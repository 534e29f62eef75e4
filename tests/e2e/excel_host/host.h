// Excel: a workbook, an add-in, RTD, and the calculation of what is dirty.
#pragma once

#include <windows.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tests/e2e/excel_host/add_in.h"
#include "tests/e2e/excel_host/rtd.h"
#include "tests/e2e/excel_host/workbook.h"

namespace excel_host {

class Host {
 public:
  explicit Host(std::wstring xll);
  ~Host();
  static Host& instance();  // MdCallBack12 has no other way to find it

  Violations violations;
  GivenValues given{violations};
  Workbook book;
  AddIn add_in;
  Rtd rtd{violations};
  std::size_t threads = 2;
  bool automatic = true;
  std::optional<std::size_t> esc_after;  // cells, in the next calculation

  // Calculates what is dirty, and raises the events. Throws Failure.
  void calculate();
  void calculate_if_automatic() {
    if (automatic) calculate();
  }

  // Messages, RTD updates and the calculations that follow, for a while or until the condition holds.
  void pump(std::uint64_t milliseconds, const std::function<bool()>& until = {});

  // As the Function Wizard shows it.
  Argument preview(const Term& formula);
  void disconnect_unused_topics();

  int callback(int function, const std::vector<const XLOPER12*>& arguments, XLOPER12* result);

 private:
  struct Calculated {
    Argument value;
    std::set<int> topics;
    bool uncalculated = false;
  };

  Calculated evaluate(const Place& place, const Term& formula, bool thread_safe);
  Argument evaluate(const Term& term, Visit& visit, bool thread_safe, bool references);
  std::vector<Argument> arguments_for(const Term& call, const RegisteredFunction& function, Visit& visit, bool safe);
  bool is_thread_safe(const Term& term) const;
  std::vector<Place> ready(const std::set<Place>& wait_for_all) const;
  void run_round(const std::vector<Place>& places, std::set<Place>& wait_for_all);
  void apply(const Place& place, Calculated calculated);
  int coerce(const XLOPER12& argument, Visit& visit, XLOPER12& result);
  int count_values(const std::vector<const XLOPER12*>& arguments, Visit& visit, XLOPER12& result);
  int rtd_value(const std::vector<const XLOPER12*>& arguments, Visit& visit, XLOPER12& result);
  std::vector<Range> areas_of(const XLOPER12& argument, const Visit& visit);

  // Runs it on the main thread, and waits.
  void on_main_thread(const std::function<void()>& work);
  bool serve_main_requests(std::uint64_t milliseconds);

  HWND window_ = nullptr;
  const DWORD main_thread_;
  std::mutex requests_mutex_;
  std::condition_variable request_came_, request_done_;
  std::vector<std::pair<const std::function<void()>*, bool*>> requests_;
  std::atomic<std::size_t> cells_done_{0};
  std::atomic<bool> escaped_{false};
};

}  // namespace excel_host
