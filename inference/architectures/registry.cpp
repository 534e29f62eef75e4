#include <array>
#include <string_view>

#include "inference/architectures/network.h"
#include "inference/error.h"

namespace glmhost::architectures {

namespace {

struct Family {
  std::string_view name;  // general.architecture
  std::unique_ptr<Network> (*make)(const MetadataReader&, WeightPlan&, kernels::KvType);
};

constexpr std::array kFamilies = {
    Family{"llama", make_llama},
    Family{"chatglm", make_chatglm},
    Family{"glm4", make_glm4},
    Family{"gemma3", make_gemma3},
};

}  // namespace

std::string supported_architectures() {
  std::string names;
  for (const Family& family : kFamilies) {
    if (!names.empty()) names += ", ";
    names += family.name;
  }
  return names;
}

std::unique_ptr<Network> make_network(const MetadataReader& metadata, WeightPlan& plan, kernels::KvType kv) {
  for (const Family& family : kFamilies) {
    if (family.name != metadata.architecture()) continue;
    std::unique_ptr<Network> network = family.make(metadata, plan, kv);
    plan.check_all_used();
    return network;
  }
  throw Error(ErrorKind::unsupported, "The model file " + metadata.file().path().string() + " is a '" +
                                          metadata.architecture() + "' model; this version runs " +
                                          supported_architectures() + ".");
}

}  // namespace glmhost::architectures
