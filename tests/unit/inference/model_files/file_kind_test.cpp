#include "inference/model_files/file_kind.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/unit/inference/model_files/refusal.h"

namespace glmhost::model_files {
namespace {

using namespace std::string_literals;

Bytes with_version(std::uint32_t version) {
  GgufWriter writer = small_model();
  writer.version = version;
  return writer.bytes();
}

void check_text_refused(const std::string& content, ErrorKind kind, std::initializer_list<std::string_view> words) {
  check_bytes_refused(to_bytes(content), kind, words);
}

}  // namespace

TEST_CASE("a missing path, a folder and an empty path are told apart") {
  const TemporaryFolder folder;
  check_refused([&] { GgufFile::open(folder.path() / "none.gguf"); }, ErrorKind::not_found,
                {"no file", "none.gguf", "check the path"});
  check_refused([&] { GgufFile::open(folder.path() / "none" / "x.gguf"); }, ErrorKind::not_found, {"no file"});
  const auto file = folder.write("a.gguf", small_model().bytes());
  check_refused([&] { GgufFile::open(file / "x.gguf"); }, ErrorKind::not_found, {"no file"});
  check_refused([&] { GgufFile::open(folder.path()); }, ErrorKind::not_found, {"is a folder", "inside"});
  check_refused([&] { GgufFile::open({}); }, ErrorKind::not_found, {"no file"});
  check_refused([&] { GgufFile::open(folder.path() / std::string(5000, 'n')); }, ErrorKind::not_found, {"no file"});
  check_refused([&] { GgufFile::open(file.string() + "\0.gguf"s); }, ErrorKind::not_found, {"no file"});
}

TEST_CASE("files with spaces and other scripts in their names open") {
  const TemporaryFolder folder;
  CHECK(GgufFile::open(folder.write(std::filesystem::path(u8"my 模型 file.gguf"), small_model().bytes()))
            .tensors()
            .size() == 5);
  check_refused([&] { GgufFile::open(folder.path() / std::filesystem::path(u8"模型.gguf")); }, ErrorKind::not_found,
                {"模型.gguf"});
}

TEST_CASE("an empty file") {
  check_bytes_refused({}, ErrorKind::bad_file, {"x.gguf", "is empty", "download"});
}

TEST_CASE("text files") {
  for (const std::string& content : {"hello"s, "GGU"s, "\xef\xbb\xbf# r\xc3\xa9sum\xc3\xa9\r\n"s,
                                     "{\"error\": \"Not Found\"}"s, "\xff\xfeh\0i\0"s}) {
    check_text_refused(content, ErrorKind::bad_file, {"x.gguf", "text file"});
  }
  // What the text says stays out of the sentence: it may be a key file.
  try {
    GgufFile::from_bytes(to_bytes("password=swordfish"), "x.gguf");
  } catch (const Error& error) {
    CHECK(std::string_view(error.what()).find("swordfish") == std::string_view::npos);
  }
}

TEST_CASE("a web page saved as .gguf is a failed download") {
  for (const std::string& page : {"<!DOCTYPE html><html>"s, "\n  <!doctype HTML>"s, "<HTML lang=en>"s, "<html>"s,
                                  "<?xml version=\"1.0\"?>\n<html xmlns=\"\">"s}) {
    check_text_refused(page, ErrorKind::bad_file, {"x.gguf", "web page", "Download it again"});
  }
}

TEST_CASE("a Git LFS pointer") {
  check_text_refused("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n", ErrorKind::bad_file,
                     {"Git LFS pointer", "git lfs pull"});
}

TEST_CASE("a safetensors file is sound but not read") {
  const std::string header = R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  const Bytes file = ByteString().number(std::uint64_t{header.size()}).raw(header).raw("\1\2\3\4").bytes();
  check_bytes_refused(file, ErrorKind::unsupported, {"x.gguf", "safetensors", "GGUF version"});
}

TEST_CASE("archives and older formats are named") {
  check_text_refused("PK\x03\x04\x14\0\0\0"s, ErrorKind::bad_file, {"zip archive", "PyTorch"});
  check_text_refused("\x1f\x8b\x08\0\0\0"s, ErrorKind::bad_file, {"gzip", "Unpack"});
  check_text_refused("\x28\xb5\x2f\xfd\0\0\0"s, ErrorKind::bad_file, {"zstd"});
  check_text_refused(
      "\xfd"
      "7zXZ\0\0"s,
      ErrorKind::bad_file, {"xz"});
  check_text_refused("7z\xbc\xaf\x27\x1c\0"s, ErrorKind::bad_file, {"7-Zip"});
  check_text_refused("tjgg\x03\0\0\0"s, ErrorKind::bad_file, {"ggjt", "before GGUF"});
  check_text_refused("lmgg\x01\0\0\0"s, ErrorKind::bad_file, {"ggml format"});
}

TEST_CASE("a file of zeros is a download that never came") {
  check_bytes_refused(Bytes(100'000), ErrorKind::bad_file, {"zeros", "Download"});
  check_bytes_refused(Bytes(1), ErrorKind::bad_file, {"zeros"});
}

TEST_CASE("other binary files") {
  check_text_refused(
      "\x7f"
      "ELF\x02\x01\x01\0"s,
      ErrorKind::bad_file, {"x.gguf", "not a GGUF model"});
  check_text_refused("gguf\x03\0\0\0"s, ErrorKind::bad_file, {"not a GGUF model"});
}

TEST_CASE("GGUF of another byte order or version") {
  check_bytes_refused(with_version(0x03000000), ErrorKind::unsupported, {"x.gguf", "big-endian", "little-endian"});
  check_bytes_refused(with_version(1), ErrorKind::unsupported, {"version 1", "newer conversion"});
  check_bytes_refused(with_version(4), ErrorKind::unsupported, {"version 4", "2 and 3"});
  check_bytes_refused(with_version(0), ErrorKind::bad_file, {"damaged"});
  check_bytes_refused(with_version(0x41414141), ErrorKind::bad_file, {"damaged"});
}

}  // namespace glmhost::model_files
