// explore() of dfa.h.
#pragma once

#include <map>

#include "inference/constraints/dfa.h"
#include "inference/error.h"

namespace glmhost::constraints {

template <typename State, typename Expand>
DfaPointer explore(const State& start, Expand&& expand, std::size_t most, const std::string& too_large) {
  std::map<State, DfaState> ids;
  std::vector<const State*> order;
  std::vector<std::vector<ByteEdge>> states;
  std::vector<std::uint32_t> labels;
  const auto id_of = [&](const State& state) {
    const auto [place, fresh] = ids.try_emplace(state, static_cast<DfaState>(ids.size()));
    if (fresh) {
      if (ids.size() > most) throw Error(ErrorKind::bad_argument, too_large);
      order.push_back(&place->first);
    }
    return place->second;
  };
  id_of(start);
  std::vector<ImplicitEdge<State>> edges;
  for (std::size_t i = 0; i < order.size(); ++i) {
    edges.clear();
    labels.push_back(expand(*order[i], edges));
    auto& row = states.emplace_back();
    for (const ImplicitEdge<State>& edge : edges) row.push_back({edge.low, edge.high, id_of(edge.target)});
  }
  return std::make_shared<const Dfa>(states, labels, 0);
}

}  // namespace glmhost::constraints
