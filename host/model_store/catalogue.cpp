#include "host/model_store/catalogue.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "host/model_store/model_store.h"
#include "host/settings/nearest_name.h"

namespace glmhost::model_store {

extern const char* const kCatalogueText;

namespace {

using Json = nlohmann::ordered_json;

Quantisation parse_quantisation(const std::string& name, const Json& json, const std::string& folder) {
  Quantisation out;
  out.name = name;
  out.bytes = json.at("bytes").get<std::uint64_t>();
  out.sha256 = json.value("sha256", "");
  for (const Json& file : json.value("files", Json::array())) out.urls.push_back(folder + file.get<std::string>());
  for (const Json& package : json.value("packages", Json::array())) {
    out.packages.push_back({package.at("package"), package.at("version"), package.at("member")});
  }
  if (out.urls.empty() == out.packages.empty()) throw std::runtime_error(name + " needs either files or packages");
  return out;
}

CatalogueModel parse_model(const Json& json) {
  CatalogueModel out;
  out.name = json.at("name").get<std::string>();
  out.title = json.at("title").get<std::string>();
  out.architecture = json.at("architecture").get<std::string>();
  out.needs = json.value("needs", "");
  out.license = json.at("license").get<std::string>();
  out.for_tests = json.value("for_tests", false);
  const std::string folder = json.value("folder", "");
  for (const auto& [name, value] : json.at("quantisations").items()) {
    out.quantisations.push_back(parse_quantisation(name, value, folder));
    const auto parsed = parse_model_name(out.name + ":" + name);
    if (!parsed || parsed->text() != out.name + ":" + name)
      throw std::runtime_error(out.name + ":" + name + " is no name");
  }
  if (out.quantisations.empty()) throw std::runtime_error(out.name + " has no quantisation");
  return out;
}

}  // namespace

std::vector<CatalogueModel> parse_catalogue(std::string_view json) {
  std::vector<CatalogueModel> out;
  try {
    const Json text = Json::parse(json);
    for (const Json& model : text.at("models")) out.push_back(parse_model(model));
  } catch (const std::exception& error) {
    throw std::runtime_error(std::string("The catalogue of models cannot be read: ") + error.what());
  }
  return out;
}

const std::vector<CatalogueModel>& catalogue() {
  static const std::vector<CatalogueModel> models = parse_catalogue(kCatalogueText);
  return models;
}

std::uint32_t machine_memory_gb(std::uint64_t model_bytes) {
  const std::uint64_t needed = model_bytes + model_bytes / 10 + 2'000'000'000;
  for (const std::uint32_t size : {4u, 8u, 12u, 16u, 24u, 32u, 48u, 64u, 96u, 128u, 192u, 256u}) {
    if (needed <= size * std::uint64_t{1'000'000'000}) return size;
  }
  return static_cast<std::uint32_t>(needed / 1'000'000'000 + 1);
}

std::string stored_name(const ModelName& name) {
  const auto& models = catalogue();
  const auto model = std::ranges::find(models, name.base, &CatalogueModel::name);
  const bool only_one = model != models.end() && model->quantisations.size() == 1 &&
                        model->quantisations.front().name == name.quantisation;
  return only_one ? name.base : name.text();
}

CatalogueEntry find_in_catalogue(const ModelName& name) {
  const auto& models = catalogue();
  const auto model = std::ranges::find(models, name.base, &CatalogueModel::name);
  if (model == models.end()) {
    std::vector<std::string_view> names;
    for (const CatalogueModel& each : models) {
      if (!each.for_tests) names.push_back(each.name);
    }
    const std::string_view near = settings::nearest_name(name.base, names);
    throw NoSuchModel("The catalogue has no model named `" + name.base + "`." +
                      (near.empty() ? "" : " Did you mean `" + std::string(near) + "`?") +
                      " `glm models --catalogue` lists what there is; `glm pull` also takes a path to a .gguf "
                      "file or an https address of one.");
  }
  if (name.quantisation.empty()) return {&*model, &model->quantisations.front()};
  const auto found = std::ranges::find(model->quantisations, name.quantisation, &Quantisation::name);
  if (found == model->quantisations.end()) {
    std::string names;
    for (const Quantisation& each : model->quantisations) names += (names.empty() ? "" : ", ") + each.name;
    throw NoSuchModel("The catalogue has " + model->name + " as " + names + ", not as `" + name.quantisation + "`.");
  }
  return {&*model, &*found};
}

}  // namespace glmhost::model_store
