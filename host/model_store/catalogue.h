// The models that `glm pull NAME` knows: catalogue.json beside this file, built into the program.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/model_store/model_name.h"

namespace glmhost::model_store {

// A file inside a wheel of the Python package index.
struct PackageMember {
  std::string package;
  std::string version;
  std::string member;  // its exact name in the wheel
};

struct Quantisation {
  std::string name;         // "q4_k_m"
  std::uint64_t bytes = 0;  // exact when sha256 is given, else about
  std::string sha256;       // of the whole; empty: what the server states is checked instead
  // Exactly one of the two is filled:
  std::vector<std::string> urls;        // one a shard, https
  std::vector<PackageMember> packages;  // members joined in this order make one file
};

struct CatalogueModel {
  std::string name;
  std::string title;
  std::string architecture;  // general.architecture
  std::string needs;         // what this version lacks to run it; empty: it runs
  std::string license;
  bool for_tests = false;                   // not offered to users
  std::vector<Quantisation> quantisations;  // the first is taken when none is named
};

const std::vector<CatalogueModel>& catalogue();

// A size of machine (4, 8, 16 ... GB) on which a model of this size leaves room for its cache, the system and a
// browser.
std::uint32_t machine_memory_gb(std::uint64_t model_bytes);

struct CatalogueEntry {
  const CatalogueModel* model = nullptr;
  const Quantisation* quantisation = nullptr;
};

// Throws NoSuchModel with a sentence that names near models, or the quantisations there are.
CatalogueEntry find_in_catalogue(const ModelName& name);

// The name under which a model is kept in the store: the quantisation is left out where the catalogue has only one.
std::string stored_name(const ModelName& name);

// Throws std::runtime_error when the text is no catalogue. Exposed for tests; catalogue() parses the built-in text
// once.
std::vector<CatalogueModel> parse_catalogue(std::string_view json);

}  // namespace glmhost::model_store
