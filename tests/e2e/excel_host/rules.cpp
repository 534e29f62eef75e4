#include "tests/e2e/excel_host/rules.h"

#include <windows.h>

#include <utility>

namespace excel_host {
namespace {

using namespace glmhost::xll;

thread_local Visit* visit = nullptr;

const void* memory_of(const XLOPER12& value) {
  switch (value.xltype & kTypeMask) {
    case xltypeStr:
      return value.val.str;
    case xltypeMulti:
      return value.val.array.cells;
    case xltypeRef:
      return value.val.mref.areas;
    default:
      return nullptr;
  }
}

}  // namespace

void Violations::add(std::string sentence) {
  const std::lock_guard lock(mutex_);
  if (sentences_.size() < 20) sentences_.push_back(std::move(sentence));
}

std::vector<std::string> Violations::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(sentences_, {});
}

VisitScope::VisitScope(Visit& entered) : before_(std::exchange(visit, &entered)) {}
VisitScope::~VisitScope() {
  visit = before_;
}
Visit* current_visit() {
  return visit;
}

NoVisit::NoVisit() : before_(std::exchange(visit, nullptr)) {}
NoVisit::~NoVisit() {
  visit = before_;
}

void GivenValues::give(const Argument& value, const char* by, XLOPER12& out) {
  auto memory = std::make_unique<GuardedValues>(std::vector<Argument>{value});
  out = memory->value(0);
  const void* key = memory_of(out);
  if (key == nullptr) return;
  const std::lock_guard lock(mutex_);
  given_[key] = {std::move(memory), by, GetCurrentThreadId()};
}

bool GivenValues::free(const XLOPER12& value) {
  const void* key = memory_of(value);
  if (key == nullptr) return true;
  const std::lock_guard lock(mutex_);
  const auto found = given_.find(key);
  if (found == given_.end()) {
    violations_.add("xlFree was given memory that is not Excel's, or that was freed already");
    return false;
  }
  given_.erase(found);
  return true;
}

void GivenValues::check_all_freed(const std::string& when) {
  const std::lock_guard lock(mutex_);
  const unsigned long thread = GetCurrentThreadId();
  for (auto each = given_.begin(); each != given_.end();) {
    if (each->second.thread != thread) {
      ++each;
      continue;
    }
    violations_.add("what " + each->second.by + " gave was not freed by " + when);
    each = given_.erase(each);
  }
}

}  // namespace excel_host
