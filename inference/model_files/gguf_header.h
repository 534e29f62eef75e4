// One GGUF file's header, read and checked: metadata and tensor table.
#pragma once

#include <vector>

#include "inference/model_files/byte_source.h"
#include "inference/model_files/metadata.h"

namespace glmhost::model_files {

struct GgufHeader {
  Metadata metadata;
  std::vector<TensorInfo> tensors;  // in the file's order, all inside the file, no two overlapping
};

// `shard` is noted in every TensorInfo. Throws Error(bad_file, unsupported, io).
GgufHeader read_gguf_header(const ByteSource& source, int shard);

}  // namespace glmhost::model_files
