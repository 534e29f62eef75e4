#include "host/settings/value_text.h"

#include <doctest/doctest.h>

#include <array>

#include "host/settings/nearest_name.h"

namespace glmhost::settings {
namespace {

TEST_CASE("bytes") {
  CHECK(parse_bytes("0") == 0);
  CHECK(parse_bytes(" 1024 ") == 1024);
  CHECK(parse_bytes("1k") == 1024);
  CHECK(parse_bytes("1 KB") == 1000);
  CHECK(parse_bytes("1.5GiB") == 3ull << 29);
  CHECK(parse_bytes("2TiB") == 2ull << 40);
  CHECK(parse_bytes("9223372036854775807") == 9223372036854775807u);
  for (const char* bad : {"", " ", "-1", "1.5", "1.GiB", "GiB", "1 XB", "1 GiB extra", "9223372036854775808", "1e3",
                          "99999999999 TiB", "99999999999.5 TiB", "0x10", "+1"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_bytes(bad).has_value());
  }
  for (const std::uint64_t value : {0ull, 1ull, 1000ull, 1024ull, 3ull << 20, (1ull << 30) + 1, 5ull << 40}) {
    CHECK(parse_bytes(bytes_text(value)) == value);
  }
  CHECK(bytes_text(256 << 20) == "256 MiB");
  CHECK(rounded_bytes_text(1023) == "1023 bytes");
  CHECK(rounded_bytes_text(1'500'000'000) == "1.4 GiB");
}

TEST_CASE("seconds, integers and switches") {
  CHECK(parse_seconds("90") == 90);
  CHECK(parse_seconds("2h") == 7200);
  CHECK(parse_seconds("-1") == -1);
  for (const char* bad : {"", "m", "1w", "1.5m", "9223372036854775807m", "9223372036854775808"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_seconds(bad).has_value());
  }
  CHECK(parse_integer(" 7 ") == 7);
  CHECK_FALSE(parse_integer("7x").has_value());
  CHECK(parse_bool("YES") == true);
  CHECK(parse_bool("off") == false);
  CHECK_FALSE(parse_bool("maybe").has_value());
}

TEST_CASE("the nearest name is near, or there is none") {
  const std::array<std::string_view, 4> names{"threads", "max_queue", "memo", "memo_limit"};
  CHECK(nearest_name("thraeds", names) == "threads");
  CHECK(nearest_name("THREADS", names) == "threads");
  CHECK(nearest_name("max-queue", names) == "max_queue");
  CHECK(nearest_name("mem", names) == "memo");
  CHECK(nearest_name("memolimit", names) == "memo_limit");
  CHECK(nearest_name("zebra", names).empty());
  CHECK(nearest_name("", names).empty());
  CHECK(nearest_name(std::string(1'000'000, 'a'), names).empty());
}

}  // namespace
}  // namespace glmhost::settings
