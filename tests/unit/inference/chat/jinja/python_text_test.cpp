// Expected values are what CPython 3.11 prints.
#include "inference/chat/jinja/python_text.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>

using namespace glmhost::jinja;

TEST_CASE("repr prints floats as Python does") {
  CHECK(repr(0.0) == "0.0");
  CHECK(repr(-0.0) == "-0.0");
  CHECK(repr(1.0) == "1.0");
  CHECK(repr(-1.5) == "-1.5");
  CHECK(repr(0.1) == "0.1");
  CHECK(repr(1.0 / 3) == "0.3333333333333333");
  CHECK(repr(0.0001) == "0.0001");
  CHECK(repr(0.00012345) == "0.00012345");
  CHECK(repr(0.00001) == "1e-05");
  CHECK(repr(1.5e-7) == "1.5e-07");
  CHECK(repr(1e15) == "1000000000000000.0");
  CHECK(repr(1234567890123456.0) == "1234567890123456.0");
  CHECK(repr(1e16) == "1e+16");
  CHECK(repr(1.2345678901234567e16) == "1.2345678901234568e+16");
  CHECK(repr(1e21) == "1e+21");
  CHECK(repr(1e100) == "1e+100");
  CHECK(repr(-1.7976931348623157e308) == "-1.7976931348623157e+308");
  CHECK(repr(5e-324) == "5e-324");
  CHECK(repr(std::numeric_limits<double>::infinity()) == "Infinity");
}

TEST_CASE("dump prints JSON as Python does") {
  const Json value = Json::parse(
      R"({"z":1,"a":[true,false,null,-9007199254740993,18446744073709551615,1.0],"":{},"list":[],"deep":{"é":["\"\\\n\r\t\b\f\u0001\u007f/"]}})");
  CHECK(
      dump(value) ==
      R"({"z": 1, "a": [true, false, null, -9007199254740993, 18446744073709551615, 1.0], "": {}, "list": [], "deep": {"é": ["\"\\\n\r\t\b\f\u0001)"
      "\x7f"
      R"(/"]}})");
  CHECK(dump(Json::parse(R"({"a":[1,{"b":2}],"c":{},"d":[]})"), 4) ==
        "{\n    \"a\": [\n        1,\n        {\n            \"b\": 2\n        }\n    ],\n    \"c\": {},\n    \"d\": "
        "[]\n}");
}

TEST_CASE("strip takes Python's white space and nothing else") {
  CHECK(strip("") == "");
  CHECK(strip(" \t\n\v\f\r") == "");
  CHECK(strip("\x1c\x1d\x1e\x1f x \x1c") == "x");
  CHECK(strip("\u0085\u00a0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000x\u3000\u00a0 ") == "x");
  CHECK(strip("\u200bx\ufeff") == "\u200bx\ufeff");  // zero-width space and BOM are none
  CHECK(strip(" a b ") == "a b");
  CHECK(strip("\xa0x\x85") == "\xa0x\x85");  // not UTF-8
}
