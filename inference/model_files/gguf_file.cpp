#include "inference/model_files/gguf_file.h"

#include <new>
#include <unordered_map>
#include <utility>

#include "inference/error.h"
#include "inference/model_files/byte_source.h"
#include "inference/model_files/error_text.h"
#include "inference/model_files/gguf_header.h"
#include "inference/model_files/metadata.h"
#include "inference/model_files/shard_name.h"

namespace glmhost::model_files {
namespace {

// Each shard keeps a file open; real sets have some tens.
constexpr std::uint64_t kMostShards = 512;

// What a shard says about the set it belongs to; count 1 for a model in one file.
struct ShardPlace {
  std::uint64_t number;  // 0-based
  std::uint64_t count;
  std::optional<std::uint64_t> tensors;  // of the whole set
};

ShardPlace read_place(const Metadata& metadata) {
  return {metadata.get_unsigned("split.no").value_or(0), metadata.get_unsigned("split.count").value_or(1),
          metadata.get_unsigned("split.tensors.count")};
}

[[noreturn]] void fail_set(const std::string& name, const std::string& problem) {
  throw Error(ErrorKind::bad_file, name + " " + problem);
}

[[noreturn]] void throw_out_of_memory(const std::filesystem::path& path) {
  throw Error(ErrorKind::out_of_memory, "There is not enough memory left to read the header of " + quoted_path(path) +
                                            "; close other programs or unload a model.");
}

std::string part(std::uint64_t number, std::uint64_t count) {
  return grouped(number) + " of " + grouped(count);
}

}  // namespace

struct GgufFile::State {
  std::filesystem::path path;
  std::vector<std::unique_ptr<ByteSource>> shards;
  std::uint64_t file_bytes = 0;
  std::optional<Metadata> metadata;  // of the first shard; always there once a file is open
  std::vector<TensorInfo> tensors;
  std::unordered_map<std::string_view, std::size_t> index;  // views into tensors

  // Returns what the shard says about its set.
  ShardPlace add_shard(std::unique_ptr<ByteSource> source) {
    GgufHeader header = read_gguf_header(*source, static_cast<int>(shards.size()));
    const ShardPlace place = read_place(header.metadata);
    if (shards.empty()) {
      metadata.emplace(std::move(header.metadata));
      tensors = std::move(header.tensors);
    } else {
      tensors.insert(tensors.end(), std::make_move_iterator(header.tensors.begin()),
                     std::make_move_iterator(header.tensors.end()));
    }
    file_bytes += source->size();
    shards.push_back(std::move(source));
    return place;
  }

  void index_tensors() {
    index.reserve(tensors.size());
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (!index.emplace(tensors[i].name, i).second) {
        throw Error(ErrorKind::bad_file, shards[static_cast<std::size_t>(tensors[i].shard)]->name() +
                                             " is damaged: tensor " + quoted_text(tensors[i].name) +
                                             " occurs twice. Download or convert the file again.");
      }
    }
  }

  void add_other_shards(const ShardPlace& first);
};

void GgufFile::State::add_other_shards(const ShardPlace& first) {
  const std::string& name = shards[0]->name();
  if (first.number >= first.count) {
    fail_set(name, "is damaged: \"split.no\" is " + grouped(first.number) +
                       " (parts count from 0) and \"split.count\" is " + grouped(first.count) +
                       ". Download the file again.");
  }
  if (first.count > kMostShards) {
    throw Error(ErrorKind::unsupported, name + " is one of " + grouped(first.count) + " parts, and at most " +
                                            grouped(kMostShards) + " can be read; merge them into fewer files first.");
  }
  const std::optional<ShardName> shard_name = parse_shard_name(path);
  if (first.count > 1 && (!shard_name || static_cast<std::uint64_t>(shard_name->count) != first.count ||
                          static_cast<std::uint64_t>(shard_name->number) != first.number + 1)) {
    fail_set(name, "is part " + part(first.number + 1, first.count) +
                       " of a split model, but its name does not say so; give all parts their original names "
                       "(NAME-00001-of-000NN.gguf and so on) and put them into one folder.");
  }
  if (first.number > 0) {
    fail_set(name, "is part " + part(first.number + 1, first.count) + " of a split model; open the first part, " +
                       quoted_path(shard_name->sibling(1)) + ", and the others follow.");
  }
  for (std::uint64_t number = 1; number < first.count; ++number) {
    const std::filesystem::path sibling = shard_name->sibling(static_cast<int>(number) + 1);
    std::unique_ptr<ByteSource> source;
    try {
      source = open_file(sibling);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::not_found) throw;
      throw Error(ErrorKind::not_found, "Part " + part(number + 1, first.count) + " of the split model is missing: " +
                                            error.what() + " All parts must be in one folder.");
    }
    const std::string sibling_name = source->name();
    const ShardPlace place = add_shard(std::move(source));
    if (place.count != first.count || place.number != number) {
      fail_set(sibling_name, "stands where part " + part(number + 1, first.count) +
                                 " of a split model should be, but it says \"split.no\" " + grouped(place.number) +
                                 " (parts count from 0) and \"split.count\" " + grouped(place.count) +
                                 "; download the parts of one set again.");
    }
  }
  if (first.count > 1 && first.tensors && *first.tensors != tensors.size()) {
    fail_set(name, "says that the split model has " + grouped(*first.tensors) + " tensors, but its parts have " +
                       grouped(tensors.size()) + " together; download the parts of one set again.");
  }
}

GgufFile::GgufFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
GgufFile::GgufFile(GgufFile&&) noexcept = default;
GgufFile& GgufFile::operator=(GgufFile&&) noexcept = default;
GgufFile::~GgufFile() = default;

GgufFile GgufFile::open(const std::filesystem::path& path) try {
  auto state = std::make_unique<State>();
  state->path = path;
  const ShardPlace first = state->add_shard(open_file(path));
  state->add_other_shards(first);
  state->index_tensors();
  return GgufFile(std::move(state));
} catch (const std::bad_alloc&) {
  throw_out_of_memory(path);
}

GgufFile GgufFile::from_bytes(std::vector<std::byte> bytes, const std::string& name) try {
  auto state = std::make_unique<State>();
  state->path = name;
  const ShardPlace first = state->add_shard(bytes_in_memory(std::move(bytes), name));
  if (first.count != 1)
    fail_set(quoted_text(name), "is one part of a split model, and the other parts are not in memory.");
  state->index_tensors();
  return GgufFile(std::move(state));
} catch (const std::bad_alloc&) {
  throw_out_of_memory(name);
}

const std::filesystem::path& GgufFile::path() const {
  return state_->path;
}
std::uint64_t GgufFile::file_bytes() const {
  return state_->file_bytes;
}

const MetadataValue* GgufFile::find(std::string_view key) const {
  return state_->metadata->find(key);
}
std::optional<std::uint64_t> GgufFile::get_unsigned(std::string_view key) const {
  return state_->metadata->get_unsigned(key);
}
std::optional<double> GgufFile::get_number(std::string_view key) const {
  return state_->metadata->get_number(key);
}
std::optional<bool> GgufFile::get_bool(std::string_view key) const {
  return state_->metadata->get_bool(key);
}
std::optional<std::string_view> GgufFile::get_string(std::string_view key) const {
  return state_->metadata->get_string(key);
}
const std::vector<std::string>* GgufFile::get_strings(std::string_view key) const {
  return state_->metadata->get_strings(key);
}
std::optional<std::vector<std::int64_t>> GgufFile::get_integers(std::string_view key) const {
  return state_->metadata->get_integers(key);
}
std::optional<std::vector<float>> GgufFile::get_floats(std::string_view key) const {
  return state_->metadata->get_floats(key);
}
std::vector<std::string> GgufFile::keys() const {
  return state_->metadata->keys();
}

std::string GgufFile::architecture() const {
  const std::optional<std::string_view> name = get_string("general.architecture");
  if (!name || name->empty()) {
    throw Error(ErrorKind::bad_file, state_->shards[0]->name() +
                                         " does not say which architecture the model has (\"general.architecture\" is "
                                         "missing). Download or convert the file again.");
  }
  return std::string(*name);
}

std::span<const TensorInfo> GgufFile::tensors() const {
  return state_->tensors;
}

const TensorInfo* GgufFile::find_tensor(std::string_view name) const {
  const auto found = state_->index.find(name);
  return found == state_->index.end() ? nullptr : &state_->tensors[found->second];
}

void GgufFile::read(const TensorInfo& tensor, std::uint64_t offset, std::span<std::byte> out) const {
  if (static_cast<std::size_t>(tensor.shard) >= state_->shards.size()) {  // a negative one, too
    throw Error(ErrorKind::bad_argument, "Tensor " + quoted_text(tensor.name) + " belongs to another file.");
  }
  if (offset > tensor.bytes || out.size() > tensor.bytes - offset) {
    throw Error(ErrorKind::bad_argument, "Tensor " + quoted_text(tensor.name) + " has " + byte_count(tensor.bytes) +
                                             "; there are no " + byte_count(out.size()) + " from offset " +
                                             grouped(offset) + " on.");
  }
  state_->shards[static_cast<std::size_t>(tensor.shard)]->read(tensor.offset + offset, out);
}

}  // namespace glmhost::model_files
