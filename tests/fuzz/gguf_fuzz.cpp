// Opens arbitrary bytes as a GGUF file and uses all that the opened file offers.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "inference/error.h"
#include "inference/model_files/gguf_file.h"

namespace {

using namespace glmhost;
using namespace glmhost::model_files;

void expect(bool truth) {
  if (!truth) std::abort();
}

// The getters throw Error for a value of another kind; nothing else may happen.
template <typename Getter>
void ask(Getter getter) {
  try {
    getter();
  } catch (const Error& error) {
    expect(error.kind() == ErrorKind::bad_file);
  }
}

void use_metadata(const GgufFile& file) {
  for (const std::string& key : file.keys()) {
    expect(file.find(key) != nullptr);
    ask([&] { file.get_unsigned(key); });
    ask([&] { file.get_number(key); });
    ask([&] { file.get_bool(key); });
    ask([&] { file.get_string(key); });
    ask([&] { file.get_strings(key); });
    ask([&] { file.get_integers(key); });
    ask([&] { file.get_floats(key); });
  }
  ask([&] { file.architecture(); });
}

void use_tensor(const GgufFile& file, const TensorInfo& tensor) {
  expect(file.find_tensor(tensor.name) == &tensor);
  expect(tensor.offset + tensor.bytes <= file.file_bytes());
  expect(row_bytes(tensor.type, tensor.columns()) * tensor.rows() == static_cast<std::int64_t>(tensor.bytes));

  const std::int64_t values = std::min<std::int64_t>(tensor.columns(), 256);
  std::vector<std::byte> blocks(static_cast<std::size_t>(row_bytes(tensor.type, values)));
  std::vector<float> out(static_cast<std::size_t>(values));
  for (const std::uint64_t offset : {std::uint64_t{0}, tensor.bytes - blocks.size()}) {
    file.read(tensor, offset, blocks);
    dequantize(tensor.type, blocks, out);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* first = reinterpret_cast<const std::byte*>(data);
  try {
    const GgufFile file = GgufFile::from_bytes({first, first + size}, "fuzz.gguf");
    use_metadata(file);
    for (const TensorInfo& tensor : file.tensors()) use_tensor(file, tensor);
  } catch (const Error& error) {
    expect(error.kind() == ErrorKind::bad_file || error.kind() == ErrorKind::unsupported);
    expect(std::string_view(error.what()).ends_with('.'));
  }
  return 0;
}
