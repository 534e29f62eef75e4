// Tells what a file is when it is not a GGUF file that this version reads, so that the sentence can say what to do.
#pragma once

#include "inference/model_files/byte_source.h"

namespace glmhost::model_files {

// Returns when the file begins as a little-endian GGUF file of version 2 or 3. Throws Error(bad_file) or
// Error(unsupported) for everything else: empty, text, a web page saved in place of the model, a Git LFS pointer,
// safetensors, an archive, an older ggml format, big-endian GGUF, GGUF of another version.
void refuse_other_kinds(const ByteSource& source);

}  // namespace glmhost::model_files
