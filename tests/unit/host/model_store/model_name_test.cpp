#include "host/model_store/model_name.h"

#include <doctest/doctest.h>

#include <string>

#include "host/model_store/byte_size.h"
#include "host/model_store/pull.h"

using namespace glmhost::model_store;

TEST_CASE("a model's name has a base and, after a colon, a quantisation") {
  const auto name = parse_model_name("GLM-4-9B-0414:Q4_K_M");
  REQUIRE(name);
  CHECK(name->base == "glm-4-9b-0414");
  CHECK(name->quantisation == "q4_k_m");
  CHECK(name->text() == "glm-4-9b-0414:q4_k_m");
  CHECK(name->file_stem() == "glm-4-9b-0414@q4_k_m");
  CHECK(name_of_stem(name->file_stem()) == name->text());
  CHECK(parse_model_name("smollm2-135m")->file_stem() == "smollm2-135m");
}

TEST_CASE("no name leads out of the store's folder or to a device") {
  for (const std::string bad : {"",      ".",    "..",    "../x",    "a/b",     "a\\b",    "/etc/passwd",
                                "C:\\x", "a:",   ":q4",   "a:b:c",   "a:../b",  ".hidden", "-rf",
                                "a b",   "a\nb", "模型",  "ends.",   "a:ends.", "con",     "nul.gguf",
                                "com1",  "lpt9", "x\x01", "a%2e%2e", "a@b",     "~"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_model_name(bad));
  }
  CHECK_FALSE(parse_model_name(std::string("a\0b", 3)));
  CHECK_FALSE(parse_model_name(std::string(97, 'a')));
  CHECK(parse_model_name(std::string(96, 'a')));
  CHECK_FALSE(parse_model_name("a:" + std::string(33, 'q')));
  CHECK(parse_model_name("console"));
}

TEST_CASE("a file that a person put into the store keeps its own name") {
  CHECK(name_of_stem("My Model (final)") == "My Model (final)");
  CHECK(name_of_stem("模型") == "模型");
  CHECK(name_of_stem("odd@") == "odd@");
  CHECK(name_of_stem("a@B") == "a@B");  // capitals: not written by us
}

TEST_CASE("shards are told by the end of their names") {
  const auto shard = parse_shard_stem("big-00002-of-00003");
  REQUIRE(shard);
  CHECK(shard->base == "big");
  CHECK(shard->number == 2);
  CHECK(shard->count == 3);
  CHECK(shard_stem("big", 2, 3) == "big-00002-of-00003");
  for (const std::string plain :
       {"big", "-00001-of-00002", "big-00003-of-00002", "big-00000-of-00002", "big-0001-of-0002", "big-0000a-of-00002",
        "big-00001-on-00002", "big00001-of-00002"}) {
    CAPTURE(plain);
    CHECK_FALSE(parse_shard_stem(plain));
  }
}

TEST_CASE("the name of a pulled file is made from the file's name") {
  CHECK(name_for_file("SmolLM2-135M-Instruct.Q4_1") == "smollm2-135m-instruct:q4_1");
  CHECK(name_for_file("THUDM_GLM-4-9B-0414-Q4_K_M") == "thudm_glm-4-9b-0414:q4_k_m");
  CHECK(name_for_file("GLM-4.5-Air-UD-Q4_K_XL") == "glm-4.5-air:ud-q4_k_xl");
  CHECK(name_for_file("model-IQ4_XS") == "model:iq4_xs");
  CHECK(name_for_file("model-bf16") == "model:bf16");
  CHECK(name_for_file("q4_0") == "q4_0");
  CHECK(name_for_file("my model (2)") == "my-model--2");
  CHECK(name_for_file("工程") == "");
  CHECK(name_for_file("..") == "");
  const std::string long_name = name_for_file(std::string(1'000'000, '-') + "a");
  CHECK(long_name == "a");
}

TEST_CASE("sizes are written for people") {
  CHECK(byte_size(0) == "0 B");
  CHECK(byte_size(999) == "999 B");
  CHECK(byte_size(1000) == "1.0 kB");
  CHECK(byte_size(98362432) == "98.4 MB");
  CHECK(byte_size(999'999) == "1.0 MB");
  CHECK(byte_size(18312339776ull) == "18.3 GB");
  CHECK(byte_size(~0ull) == "18446.7 PB");
}
