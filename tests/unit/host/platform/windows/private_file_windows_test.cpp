#include <doctest/doctest.h>

#include <stdexcept>

#include "host/platform/private_file.h"
#include "tests/unit/host/platform/temporary_folder.h"
#include "tests/unit/host/platform/windows/access_list.h"

using namespace glmhost::platform;
using namespace glmhost::test;

TEST_CASE("a private file lets in nobody else, and one that does is not trusted") {
  TemporaryFolder folder;
  const auto file = folder.path() / L"host 数.json";
  write_private_file(file, "first");
  CHECK_FALSE(lets_in_everybody(file));
  CHECK(read_private_file(file, 10) == "first");

  open_to_everybody(file);
  REQUIRE(lets_in_everybody(file));
  CHECK_THROWS_WITH_AS(read_private_file(file, 10), doctest::Contains("open to other users"), std::runtime_error);

  write_private_file(file, "second");
  CHECK_FALSE(lets_in_everybody(file));
  CHECK(read_private_file(file, 10) == "second");
}
