#include "inference/model_files/byte_source.h"

#include <cstring>
#include <utility>

#include "inference/error.h"
#include "inference/model_files/error_text.h"

namespace glmhost::model_files {
namespace {

class MemorySource : public ByteSource {
 public:
  MemorySource(std::vector<std::byte> bytes, std::string name) : bytes_(std::move(bytes)), name_(std::move(name)) {}

  const std::string& name() const override { return name_; }
  std::uint64_t size() const override { return bytes_.size(); }

  void read(std::uint64_t offset, std::span<std::byte> out) const override {
    if (offset > bytes_.size() || out.size() > bytes_.size() - offset) throw_shrunk(name_, offset + out.size());
    if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
  }

 private:
  std::vector<std::byte> bytes_;
  std::string name_;
};

}  // namespace

std::unique_ptr<ByteSource> bytes_in_memory(std::vector<std::byte> bytes, const std::string& name) {
  return std::make_unique<MemorySource>(std::move(bytes), quoted_text(name));
}

void throw_missing(const std::string& name) {
  throw Error(ErrorKind::not_found, "There is no file " + name + "; check the path, or pull the model first.");
}

void throw_directory(const std::string& name) {
  throw Error(ErrorKind::not_found, name + " is a folder; give the path of the .gguf file inside it.");
}

void throw_not_regular(const std::string& name) {
  throw Error(ErrorKind::bad_file, name +
                                       " is a pipe, socket or device, not a regular file; a model is read in "
                                       "pieces from anywhere in the file, so save it to disk first.");
}

void throw_no_permission(const std::string& name) {
  throw Error(ErrorKind::io,
              "This user may not read " + name + "; change the permissions of the file and of the folders above it.");
}

void throw_io(const std::string& name, const std::string& doing, const std::string& reason) {
  throw Error(ErrorKind::io, name + " cannot be " + doing + ": the system says \"" + reason +
                                 "\". Check the disk or network drive that holds it and try again.");
}

void throw_shrunk(const std::string& name, std::uint64_t expected) {
  throw Error(ErrorKind::bad_file, name + " became shorter than " + byte_count(expected) +
                                       " while it was being read; wait until whatever writes it has finished, then "
                                       "open it again.");
}

}  // namespace glmhost::model_files
