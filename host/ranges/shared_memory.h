// A named piece of memory that several processes of one user share, and that goes with the last of them.
//
// Linux: a file in /dev/shm (in the runtime folder where there is none), mode 0600. Every user holds a shared lock on
// it; whoever leaves and finds no other lock removes the file. A killed process leaves no lock, so sweep() finds what
// it left. Windows: a section of the page file in the session's own namespace, for this user alone; the system frees it
// with its last handle, however that ends.
//
// The name ("glmhost-1000-4711-...") is all that another process needs. It is untrusted there: only names that create()
// could have made are opened, only files of this user that are closed to others, and never through a link.
//
// Addresses stay as they are while the memory grows: as much address space as may ever be needed is reserved at once,
// and only what is committed costs memory. Committed memory is there: a full /dev/shm is an error of commit(), not a
// signal later. Nothing here shrinks a segment; a program of the same user that did could as well kill this one.
//
// Thread rules: one thread at a time for members that change; data() may be read by all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace glmhost::ranges {

class SharedMemory {
 public:
  // At most `reserve` bytes can be committed; none is at first, and nothing is mapped. Throws RangeError.
  static SharedMemory create(std::size_t reserve);

  // For reading: what is committed now. Throws RangeError: no such segment, not ours, not safe.
  static SharedMemory open(std::string_view name);

  // For a second process to write. At most `reserve` bytes, and on Windows no more than the creator reserved.
  static SharedMemory open_for_writing(std::string_view name, std::size_t reserve);

  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  ~SharedMemory();

  // The most that it is sensible to reserve for what may become large: tens of gigabytes on Linux, four on Windows, a
  // part of the address space in a program of 32 bits.
  static std::size_t most_reserve();

  const std::string& name() const;
  std::byte* data();              // not to be written through when it was opened for reading
  const std::byte* data() const;  // the same address for the whole life
  std::size_t size() const;       // committed bytes
  void commit(std::size_t size);  // at least; throws RangeError

 private:
  struct State;
  explicit SharedMemory(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Whether create() could have made this name.
bool is_segment_name(std::string_view name);

// Removes what killed processes of this user have left; returns how many segments. Others are not disturbed. Nothing to
// do on Windows.
std::size_t sweep();

// How many segments of this user there are, used or left: for tests and for `glm status`. 0 on Windows.
std::size_t count_segments();

}  // namespace glmhost::ranges
