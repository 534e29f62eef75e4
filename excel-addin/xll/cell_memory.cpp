#include "excel-addin/xll/cell_memory.h"

namespace glmhost::xll {

std::optional<formula::Value> CellMemory::tell(const CellPlace& place, std::string_view function, const Reply& reply) {
  const std::lock_guard lock(mutex_);
  Told& told = cells_[place];
  if (told.function != function) {
    told.function = function;
    told.earlier.reset();
  }
  told.reply = reply;
  if (reply.state == Reply::State::done) told.earlier = reply.value;
  return told.earlier;
}

std::optional<CellMemory::Told> CellMemory::told(const CellPlace& place) const {
  const std::lock_guard lock(mutex_);
  const auto found = cells_.find(place);
  return found == cells_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace glmhost::xll
