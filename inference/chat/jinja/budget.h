// What one run of a template may cost, and what it has cost so far.
#pragma once

#include <cstddef>
#include <cstdint>

namespace glmhost::jinja {

__extension__ using Int = __int128;  // Python's integers have no bounds; these fail where they would be left

// Far above what real templates need, and low enough to end a hostile one within about a second. What may be made
// grows with the input: a template copies a message several times on its way into the prompt.
struct Limits {
  std::uint64_t steps = 20'000'000;              // evaluated parts of the template and looked-at items
  std::uint64_t steps_per_input_byte = 16;       // beside that
  std::uint64_t made_bytes = 64u << 20;          // text, lists and dicts, all that was ever made
  std::uint64_t made_bytes_per_input_byte = 32;  // beside that
  int depth = 600;                               // of statements, expressions and macros inside one another
};

inline constexpr int kMaxValueDepth = 200;           // of lists and dicts inside one another
inline constexpr std::size_t kMaxSource = 1u << 20;  // bytes of a template

// Each member fails (Fault, a limit) when there would be too much.
class Budget {
 public:
  explicit Budget(const Limits& limits) : limits_(limits) {}

  // All that was counted up to here is the input: it costs nothing, and the limits grow with it.
  void begin(const Limits& limits);

  void step(std::uint64_t count = 1) {
    steps_ += count;
    if (steps_ > limits_.steps) too_many_steps();
  }
  void make(std::uint64_t bytes) {
    made_ += bytes;
    if (made_ > limits_.made_bytes) too_much_made();
  }
  // A number of equal things, before the first of them is made.
  void make(Int count, std::uint64_t bytes) {
    constexpr Int kMany = Int{1} << 40;  // too many, whatever they are
    if (count > 0) make(static_cast<std::uint64_t>(count < kMany ? count : kMany) * bytes);
  }
  // Reading a text costs little, but not nothing.
  void read(std::size_t bytes) { step(1 + bytes / 64); }

  class Level {
   public:
    explicit Level(Budget& budget) : budget_(budget) {
      if (++budget_.depth_ > budget_.limits_.depth) {
        --budget_.depth_;
        budget_.too_deep();
      }
    }
    ~Level() { --budget_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Budget& budget_;
  };

 private:
  [[noreturn]] void too_many_steps() const;
  [[noreturn]] void too_much_made() const;
  [[noreturn]] void too_deep() const;

  Limits limits_;
  std::uint64_t steps_ = 0;
  std::uint64_t made_ = 0;
  int depth_ = 0;
};

}  // namespace glmhost::jinja
