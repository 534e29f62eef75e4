// A section of the page file: reserved as a whole, committed piece by piece.
#include <windows.h>

#include <algorithm>

#include "host/platform/process.h"
#include "host/platform/windows_api.h"
#include "host/ranges/range_error.h"
#include "host/ranges/segment_name.h"
#include "host/ranges/shared_memory.h"

namespace glmhost::ranges {
namespace {

using platform::error_text;
using platform::WindowsHandle;

constexpr std::size_t kPage = 65'536;  // views and reservations count in these

std::size_t page_up(std::size_t size) {
  return (size + kPage - 1) / kPage * kPage;
}

std::wstring object_name(std::string_view name) {
  return L"Local\\" + platform::to_wide(name);
}

}  // namespace

struct SharedMemory::State {
  std::string name;
  WindowsHandle section;
  std::size_t reserve = 0;
  std::size_t size = 0;
  std::byte* data = nullptr;
  DWORD access = FILE_MAP_READ;

  ~State() {
    if (data != nullptr) UnmapViewOfFile(data);
  }

  // 0: the whole section.
  void map(std::size_t bytes) {
    if (data != nullptr) return;
    data = static_cast<std::byte*>(MapViewOfFile(section.get(), access, 0, 0, bytes));
    if (data == nullptr) {
      throw RangeError("A range could not be mapped into memory: " + error_text(GetLastError()) +
                       ". Take a smaller range.");
    }
  }

  // What is committed is one run from the start.
  void measure() {
    MEMORY_BASIC_INFORMATION region{};
    size = 0;
    if (VirtualQuery(data, &region, sizeof(region)) != 0 && region.State == MEM_COMMIT) size = region.RegionSize;
  }
};

SharedMemory::SharedMemory(std::unique_ptr<State> state) : state_(std::move(state)) {}
SharedMemory::SharedMemory(SharedMemory&& other) noexcept = default;
SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept = default;
SharedMemory::~SharedMemory() = default;

// A reservation costs 8 bytes for each page of it.
std::size_t SharedMemory::most_reserve() {
  return std::size_t{1} << (sizeof(void*) == 8 ? 32 : 28);
}

SharedMemory SharedMemory::create(std::size_t reserve) {
  platform::UserOnlySecurity security;
  for (;;) {
    auto state = std::make_unique<State>();
    state->name = make_segment_name(0, platform::process_id());
    state->reserve = page_up(std::max<std::size_t>(reserve, 1));
    state->access = FILE_MAP_READ | FILE_MAP_WRITE;
    const auto bytes = static_cast<std::uint64_t>(state->reserve);
    state->section = WindowsHandle(CreateFileMappingW(
        INVALID_HANDLE_VALUE, security.attributes(), PAGE_READWRITE | SEC_RESERVE, static_cast<DWORD>(bytes >> 32),
        static_cast<DWORD>(bytes & 0xFFFFFFFF), object_name(state->name).c_str()));
    const DWORD error = GetLastError();
    if (!state->section) {
      throw RangeError("Shared memory for a range cannot be made: " + error_text(error) + ".");
    }
    if (error != ERROR_ALREADY_EXISTS) return SharedMemory(std::move(state));
  }
}

SharedMemory SharedMemory::open(std::string_view name) {
  if (!is_segment_name(name)) throw RangeError("That is no name of a range.");
  auto state = std::make_unique<State>();
  state->name = name;
  state->section = WindowsHandle(OpenFileMappingW(FILE_MAP_READ, FALSE, object_name(name).c_str()));
  if (!state->section) {
    throw RangeError("The range " + state->name + " is not there any more: its owner has ended.");
  }
  state->map(0);
  state->measure();
  state->reserve = state->size;
  return SharedMemory(std::move(state));
}

SharedMemory SharedMemory::open_for_writing(std::string_view name, std::size_t reserve) {
  if (!is_segment_name(name)) throw RangeError("That is no name of a range.");
  auto state = std::make_unique<State>();
  state->name = name;
  state->access = FILE_MAP_READ | FILE_MAP_WRITE;
  state->section = WindowsHandle(OpenFileMappingW(state->access, FALSE, object_name(name).c_str()));
  if (!state->section) {
    throw RangeError("The range " + state->name + " is not there any more: its owner has ended.");
  }
  state->map(0);
  state->measure();
  MEMORY_BASIC_INFORMATION rest{};
  std::size_t whole = state->size;
  if (VirtualQuery(state->data + state->size, &rest, sizeof(rest)) != 0 && rest.State == MEM_RESERVE &&
      rest.AllocationBase == state->data) {
    whole += rest.RegionSize;
  }
  state->reserve = std::min(page_up(reserve), whole);
  return SharedMemory(std::move(state));
}

const std::string& SharedMemory::name() const {
  return state_->name;
}
std::byte* SharedMemory::data() {
  return state_->data;
}
const std::byte* SharedMemory::data() const {
  return state_->data;
}
std::size_t SharedMemory::size() const {
  return state_->size;
}

void SharedMemory::commit(std::size_t size) {
  State& state = *state_;
  if (size <= state.size) return;
  size = page_up(size);
  if (size > state.reserve) throw RangeError("The range is too large to be handed over. Take a smaller one.");
  state.map(0);
  if (VirtualAlloc(state.data, size, MEM_COMMIT, PAGE_READWRITE) == nullptr) {
    throw RangeError("There is not enough memory for a range of " + std::to_string(size >> 20) +
                     " MiB: " + error_text(GetLastError()) + ". Take a smaller range.");
  }
  state.size = size;
}

std::size_t sweep() {
  return 0;
}

std::size_t count_segments() {
  return 0;
}

}  // namespace glmhost::ranges
