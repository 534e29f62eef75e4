#include "host/model_store/model_store.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "host/model_store/catalogue.h"
#include "host/model_store/model_name.h"
#include "host/platform/paths.h"
#include "host/settings/nearest_name.h"

namespace glmhost::model_store {
namespace {

namespace fs = std::filesystem;

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

bool is_gguf_name(std::string_view file_name) {
  return lower(file_name).ends_with(".gguf");
}

std::string stem_of(const fs::path& file) {
  const std::string name = platform::to_utf8(file.filename());
  return name.substr(0, name.size() - std::string_view(".gguf").size());
}

// The model whose first shard (or only file) this is; nothing when a shard is missing or the file cannot be read.
std::optional<StoredModel> as_model(const fs::path& file) {
  std::error_code error;
  StoredModel model{name_of_stem(stem_of(file)), file, fs::file_size(file, error)};
  if (error) return std::nullopt;
  const std::string stem = stem_of(file);
  const auto shard = parse_shard_stem(stem);
  if (!shard) return model;
  if (shard->number != 1) return std::nullopt;
  model.name = name_of_stem(shard->base);
  const std::string extension = platform::to_utf8(file.extension());
  for (std::uint32_t number = 2; number <= shard->count; ++number) {
    const fs::path other =
        file.parent_path() / platform::path_from_utf8(shard_stem(shard->base, number, shard->count) + extension);
    model.bytes += fs::file_size(other, error);
    if (error) return std::nullopt;
  }
  return model;
}

std::vector<StoredModel> models_in(const fs::path& folder, std::error_code& error) {
  std::vector<StoredModel> models;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    if (!entry->is_regular_file(ignored) || !is_gguf_name(platform::to_utf8(entry->path().filename()))) continue;
    if (auto model = as_model(entry->path())) models.push_back(std::move(*model));
  }
  std::ranges::sort(models, {}, &StoredModel::name);
  return models;
}

std::string gguf_files_in(const fs::path& folder) {
  std::error_code error;
  std::string names;
  int count = 0;
  for (const StoredModel& model : models_in(folder, error)) {
    if (++count > 3) return names + " and more";
    names += (names.empty() ? "" : ", ") + platform::to_utf8(model.path.filename());
  }
  return names;
}

// Among several stored quantisations of one model: the one the catalogue would have pulled.
const StoredModel* preferred(std::span<const StoredModel> candidates) {
  if (candidates.size() == 1) return &candidates.front();
  for (const CatalogueModel& model : catalogue()) {
    const std::string first = model.name + ":" + model.quantisations.front().name;
    const auto found = std::ranges::find(candidates, first, [](const StoredModel& m) { return lower(m.name); });
    if (found != candidates.end()) return &*found;
  }
  return nullptr;
}

std::string how_to_get(const std::string& text) {
  const auto name = parse_model_name(text);
  if (!name) return " `glm models` lists the models you have.";
  const auto& models = catalogue();
  const auto known = std::ranges::find(models, name->base, &CatalogueModel::name);
  if (known != models.end()) return " Bring it with `glm pull " + name->text() + "`.";
  return " `glm models` lists the models you have, `glm models --catalogue` those that `glm pull` can bring.";
}

}  // namespace

bool is_model_path(std::string_view text) {
  // Kinds of files that people try, so that they are told what such a file is: names of models may hold dots too.
  constexpr std::string_view kOtherKinds[] = {".safetensors", ".bin", ".pt",   ".pth", ".onnx",
                                              ".txt",         ".md",  ".json", ".zip", ".ggml"};
  const std::string name = lower(text);
  const auto ends_so = [&name](std::string_view kind) { return name.ends_with(kind); };
  if (std::ranges::any_of(kOtherKinds, ends_so)) return true;
  return text.find_first_of("/\\") != std::string_view::npos || is_gguf_name(text) || text == "." || text == "..";
}

ModelStore::ModelStore(fs::path folder) : folder_(std::move(folder)) {
  std::error_code ignored;
  fs::create_directories(folder_, ignored);
}

std::vector<StoredModel> ModelStore::list() const {
  std::error_code error;
  auto models = models_in(folder_, error);
  if (error && error != std::errc::no_such_file_or_directory && error != std::errc::not_a_directory) {
    throw std::runtime_error("The models folder " + platform::to_utf8(folder_) + " cannot be read: " + error.message() +
                             ".");
  }
  return models;
}

StoredModel ModelStore::resolve_path(std::string_view text) const {
  const std::string quoted = std::string("`").append(text) + "`";
  std::error_code error;
  fs::path path = fs::absolute(platform::path_from_utf8(text), error);
  if (error) path = platform::path_from_utf8(text);
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    const bool denied = error == std::errc::permission_denied;
    if (denied) throw NoSuchModel("The model file " + quoted + " may not be read by this user: check its permissions.");
    throw NoSuchModel("There is no file " + quoted + "." +
                      (fs::is_directory(path.parent_path(), error) ? std::string(" Check the name.")
                       : path.parent_path().empty()
                           ? std::string(" The current folder was removed.")
                           : " The folder " + platform::to_utf8(path.parent_path()) + " does not exist either.") +
                      " `glm models` lists the models you have.");
  }
  if (fs::is_directory(status)) {
    const std::string inside = gguf_files_in(path);
    throw NoSuchModel(quoted + " is a folder. Give a .gguf file" +
                      (inside.empty() ? "; this folder has none." : " in it: " + inside + "."));
  }
  // A later shard stands for its model, whose first shard is opened.
  const std::string stem = is_gguf_name(text) ? stem_of(path) : std::string();
  if (const auto shard = parse_shard_stem(stem); shard && shard->number != 1) {
    const fs::path first = path.parent_path() / platform::path_from_utf8(shard_stem(shard->base, 1, shard->count) +
                                                                         platform::to_utf8(path.extension()));
    if (fs::exists(first, error)) path = first;
  }
  StoredModel model{platform::to_utf8(path.lexically_normal()), path.lexically_normal(), fs::file_size(path, error)};
  if (is_gguf_name(text)) {
    if (const auto whole = as_model(path)) model.bytes = whole->bytes;
  }
  return model;
}

StoredModel ModelStore::resolve_unnamed() const {
  const auto models = list();
  const auto usual = std::ranges::find(models, kDefaultModel, &StoredModel::name);
  if (usual != models.end()) return *usual;
  if (models.size() == 1) return models.front();
  if (models.empty()) return resolve(kDefaultModel);  // whose sentence says how to get it
  std::string names;
  for (const StoredModel& model : models) names += (names.empty() ? "`" : ", `") + model.name + "`";
  throw NoSuchModel("There are several models, so say which one with -m or as default_model in config.toml: " + names +
                    ".");
}

StoredModel ModelStore::resolve(std::string_view name_or_path) const {
  if (name_or_path.empty()) return resolve_unnamed();
  const std::string text(name_or_path);
  if (text.find('\0') != std::string::npos) throw NoSuchModel("A model's name cannot hold a zero byte.");
  if (is_model_path(text)) return resolve_path(text);

  const auto models = list();
  const auto parsed = parse_model_name(text);
  const std::string wanted = parsed ? stored_name(*parsed) : lower(text);
  std::vector<StoredModel> quantisations;
  for (const StoredModel& model : models) {
    const std::string name = lower(model.name);
    if (name == wanted) return model;
    if (name.starts_with(wanted + ":")) quantisations.push_back(model);
  }
  if (const StoredModel* model = quantisations.empty() ? nullptr : preferred(quantisations)) return *model;
  if (!quantisations.empty()) {
    std::string names;
    for (const StoredModel& model : quantisations) names += (names.empty() ? "`" : ", `") + model.name + "`";
    throw NoSuchModel("`" + text + "` is stored in several quantisations: say which one of " + names + ".");
  }
  std::error_code error;
  if (fs::exists(platform::path_from_utf8(text), error)) return resolve_path(text);

  std::vector<std::string_view> names;
  for (const StoredModel& model : models) names.push_back(model.name);
  const std::string_view near = settings::nearest_name(text, names);
  throw NoSuchModel("There is no model `" + text + "` in " + platform::to_utf8(folder_) + "." +
                    (near.empty() ? "" : " Did you mean `" + std::string(near) + "`?") + how_to_get(text));
}

}  // namespace glmhost::model_store
