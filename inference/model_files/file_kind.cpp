#include "inference/model_files/file_kind.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>

#include "inference/error.h"
#include "inference/model_files/error_text.h"

namespace glmhost::model_files {
namespace {

constexpr std::size_t kSampleBytes = 4096;

struct Signature {
  std::string_view bytes;
  std::string_view meaning;  // continues the sentence "FILE is ..."
};

using namespace std::string_view_literals;

constexpr std::array kSignatures = {
    Signature{"version https://git-lfs"sv,
              "a Git LFS pointer, not the model itself: the repository was cloned without its large files. Run \"git "
              "lfs pull\" there, or download the .gguf file directly."},
    Signature{"PK\x03\x04"sv,
              "a zip archive (PyTorch models are such archives), not a GGUF model. Unpack it if the model is inside, "
              "or download the model's GGUF version."},
    Signature{"\x1f\x8b"sv, "compressed by gzip. Unpack it first and open the .gguf file that comes out."},
    Signature{"\xfd"
              "7zXZ\0"sv,
              "compressed by xz. Unpack it first and open the .gguf file that comes out."},
    Signature{"\x28\xb5\x2f\xfd"sv, "compressed by zstd. Unpack it first and open the .gguf file that comes out."},
    Signature{"BZh"sv, "compressed by bzip2. Unpack it first and open the .gguf file that comes out."},
    Signature{"7z\xbc\xaf\x27\x1c"sv, "a 7-Zip archive. Unpack it first and open the .gguf file that comes out."},
    Signature{"Rar!\x1a\x07"sv, "a RAR archive. Unpack it first and open the .gguf file that comes out."},
    Signature{"tjgg"sv, "in the ggjt format, which came before GGUF. Download the model's GGUF version."},
    Signature{"fmgg"sv, "in the ggmf format, which came before GGUF. Download the model's GGUF version."},
    Signature{"lmgg"sv, "in the ggml format, which came before GGUF. Download the model's GGUF version."},
    Signature{"algg"sv, "a LoRA adapter in the ggla format, not a model. Download the model's GGUF version."},
    Signature{"\x89HDF\r\n\x1a\n"sv, "an HDF5 file (Keras models are such files). Download the model's GGUF version."},
};

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

std::string_view without_leading_space(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // byte order mark
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

// safetensors: u64 length of a JSON object, then the object.
bool looks_like_safetensors(std::string_view sample, std::uint64_t file_bytes) {
  if (sample.size() < 10) return false;
  std::uint64_t header_bytes;
  std::memcpy(&header_bytes, sample.data(), sizeof header_bytes);
  return header_bytes >= 2 && header_bytes <= file_bytes && without_leading_space(sample.substr(8)).starts_with('{');
}

bool looks_like_html(std::string_view sample) {
  const std::string start = lower(without_leading_space(sample).substr(0, 256));
  return start.starts_with("<!doctype html") || start.starts_with("<html") || start.starts_with("<head") ||
         (start.starts_with("<?xml") && start.find("<html") != std::string::npos);
}

// No byte that text never has, and at least some of the kind that it always has.
bool looks_like_text(std::string_view sample) {
  return std::ranges::all_of(sample, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 ? byte != 0x7f : byte == '\t' || byte == '\n' || byte == '\r' || byte == '\f';
  });
}

bool looks_like_utf16_text(std::string_view sample) {
  return sample.starts_with("\xff\xfe"sv) || sample.starts_with("\xfe\xff"sv);
}

[[noreturn]] void refuse(ErrorKind kind, const ByteSource& source, std::string_view meaning) {
  throw Error(kind, source.name() + " is " + std::string(meaning));
}

[[noreturn]] void refuse_not_gguf(const ByteSource& source, std::string_view sample) {
  if (looks_like_html(sample)) {
    refuse(ErrorKind::bad_file, source,
           "a web page, not a model: the download brought an error or log-in page instead of the file. Download it "
           "again from the link of the file itself.");
  }
  for (const Signature& signature : kSignatures) {
    if (sample.starts_with(signature.bytes)) refuse(ErrorKind::bad_file, source, signature.meaning);
  }
  if (looks_like_safetensors(sample, source.size())) {
    refuse(ErrorKind::unsupported, source,
           "a safetensors file, and this version reads GGUF files only. Download the model's GGUF version or convert "
           "it.");
  }
  if (std::ranges::all_of(sample, [](char c) { return c == 0; })) {
    refuse(ErrorKind::bad_file, source,
           "filled with zeros where a model should begin: a download reserved the space and never filled it. Download "
           "the file again.");
  }
  if (looks_like_text(sample) || looks_like_utf16_text(sample)) {
    refuse(ErrorKind::bad_file, source,
           "a text file, not a model. If it came from a download, that failed; otherwise give the path of a .gguf "
           "file.");
  }
  refuse(ErrorKind::bad_file, source,
         "not a GGUF model: its first four bytes are not \"GGUF\". Give the path of a .gguf file.");
}

}  // namespace

void refuse_other_kinds(const ByteSource& source) {
  if (source.size() == 0) {
    refuse(ErrorKind::bad_file, source,
           "empty. If it came from a download, that failed or has not begun; download the file again.");
  }
  std::array<char, kSampleBytes> buffer;
  const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), source.size()));
  source.read(0, std::as_writable_bytes(std::span(buffer).first(length)));
  const std::string_view sample(buffer.data(), length);

  if (!sample.starts_with("GGUF")) refuse_not_gguf(source, sample);
  if (length < 8) return;  // cut short: the reader of the header says by how much

  std::uint32_t version;
  std::memcpy(&version, sample.data() + 4, sizeof version);
  if (version == 2 || version == 3) return;
  if ((version & 0xffff) == 0 && version != 0) {
    refuse(ErrorKind::unsupported, source,
           "a big-endian GGUF file, made for another kind of machine. Download the little-endian version of the "
           "model.");
  }
  if (version == 1) {
    refuse(ErrorKind::unsupported, source,
           "a GGUF file of version 1, which nobody has written since 2023. Download a newer conversion of the model.");
  }
  if (version > 3 && version < 100) {
    refuse(ErrorKind::unsupported, source,
           "a GGUF file of version " + std::to_string(version) +
               ", and this program reads versions 2 and 3. Look for a newer version of this program, or for a version "
               "3 file of the model.");
  }
  refuse(ErrorKind::bad_file, source,
         "damaged: it says that its GGUF version is " + grouped(version) + ". Download the file again.");
}

}  // namespace glmhost::model_files
