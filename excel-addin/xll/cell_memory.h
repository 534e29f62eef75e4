// What each cell was told last: for the value that it keeps while a new one is on its way, and for GLM.STATUS and
// GLM.ERROR. Cells are known by their place. After rows were inserted, Excel calculates only what changed, so a cell may
// stand where another one stood: it may then keep that one's value for as long as its own is on its way, no longer.
//
// Thread rules: every member may be called from any thread.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "excel-addin/xll/answers.h"

namespace glmhost::xll {

struct CellPlace {
  std::uintptr_t sheet = 0;
  std::int32_t row = 0, column = 0;
  bool operator==(const CellPlace&) const = default;
};

class CellMemory {
 public:
  struct Told {
    std::string function;
    Reply reply;                            // the last one
    std::optional<formula::Value> earlier;  // the last one that was done
  };

  // The value that the cell shows while it waits for the reply: the last answer of the same function there.
  std::optional<formula::Value> tell(const CellPlace& place, std::string_view function, const Reply& reply);

  std::optional<Told> told(const CellPlace& place) const;

 private:
  struct Hash {
    std::size_t operator()(const CellPlace& place) const {
      const auto cell = static_cast<std::uint64_t>(place.row) * 16'384 + static_cast<std::uint64_t>(place.column);
      return static_cast<std::size_t>((place.sheet * 0x9E37'79B9'7F4A'7C15u) ^ (cell * 0xD6E8'FEB8'6659'FD93u));
    }
  };
  mutable std::mutex mutex_;
  std::unordered_map<CellPlace, Told, Hash> cells_;
};

}  // namespace glmhost::xll
