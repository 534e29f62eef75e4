// Truncated, resized and byte-flipped copies of a real model file: the daemon answers from each or refuses it with a
// sentence, and lives on. GLM_TEST_DAMAGED_COPIES=2000 takes more of them.
#ifndef _WIN32

#include <algorithm>
#include <array>
#include <cstdint>

#include "tests/integration/daemon_process.h"

namespace glmhost::integration {
namespace {

using Random = std::mt19937_64;
using Bytes = std::vector<char>;

std::size_t copies() {
  if (const char* count = std::getenv("GLM_TEST_DAMAGED_COPIES")) return std::stoul(count);
  return test_model().real ? 60 : 300;
}

Bytes read_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::size_t below(Random& random, std::size_t limit) {
  return static_cast<std::size_t>(random() % limit);
}

// Mostly in the metadata and the tensor list, where the structure is; sometimes anywhere.
std::size_t place(Random& random, std::size_t size) {
  constexpr std::size_t kHeader = std::size_t{2} << 20;
  const std::array<std::size_t, 4> reaches = {4096, 65536, kHeader, size};
  return below(random, std::min(size, reaches[below(random, reaches.size())]));
}

std::string damage(Random& random, Bytes& bytes) {
  const std::size_t at = place(random, bytes.size());
  switch (random() % 4) {
    case 0:
      for (std::size_t i = 1 + below(random, 8); i > 0; --i) {
        bytes[place(random, bytes.size())] = static_cast<char>(random());
      }
      return "some bytes flipped";
    case 1: {
      constexpr std::array<std::uint64_t, 8> kNumbers = {
          0, 1, 0x7fffffff, 0xffffffff, 0xffffffff, std::uint64_t{1} << 61, ~0ULL >> 1, ~0ULL};
      const std::uint64_t number = kNumbers[below(random, kNumbers.size())];
      const std::size_t size = std::min(std::size_t{1} << below(random, 4), bytes.size() - at);
      std::copy_n(reinterpret_cast<const char*>(&number), size, bytes.begin() + static_cast<std::ptrdiff_t>(at));
      return "a number overwritten at " + std::to_string(at);
    }
    case 2: {
      const auto there = bytes.begin() + static_cast<std::ptrdiff_t>(at);
      const std::size_t count = std::min<std::size_t>(1 + below(random, 64), bytes.size() - at);
      if (random() % 2 == 0) {
        bytes.insert(there, count, static_cast<char>(random()));
      } else {
        bytes.erase(there, there + static_cast<std::ptrdiff_t>(count));
      }
      return "resized at " + std::to_string(at);
    }
    default:
      bytes.resize(at);
      return "cut off at " + std::to_string(at);
  }
}

TEST_CASE("damaged copies of a model file are answered from or refused, and the daemon lives on") {
  const Bytes sound = read_file(test_model().file);
  DaemonProcess daemon{{"MEMO", "false"}};
  daemon.start();
  const auto client = daemon.client();
  const fs::path file = daemon.home() / "damaged.gguf";
  std::size_t answered = 0, refused = 0;
  for (std::size_t seed = 0; seed < copies(); ++seed) {
    Random random(seed);
    Bytes bytes = sound;
    const std::string what = damage(random, bytes);
    fs::remove(file);  // a daemon that reads the last one keeps its pages
    std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    protocol::Request request = raw("Once upon a time", 3);
    request.model = file.string();
    const auto outcome = client->start(request).wait_for(kPatience);
    CAPTURE(seed);
    CAPTURE(what);
    REQUIRE(outcome.has_value());
    if (std::holds_alternative<protocol::Result>(*outcome)) {
      ++answered;
      continue;
    }
    const auto& error = std::get<protocol::ErrorMessage>(*outcome);
    CAPTURE(error.sentence);
    REQUIRE(error.code != protocol::ErrorCode::internal);
    REQUIRE(error.sentence.find("went away") == std::string::npos);
    REQUIRE(error.sentence.ends_with('.'));
    ++refused;
  }
  MESSAGE(answered << " answered, " << refused << " refused; the daemon took at most "
                   << daemon.memory_kb("VmHWM") / 1024 << " MiB");
  CHECK(answered > 0);
  CHECK(refused > 0);
  CHECK(daemon.terminate() == 0);
}

}  // namespace
}  // namespace glmhost::integration

#endif
