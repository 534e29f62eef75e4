#include <doctest/doctest.h>

#include "host/cli/console.h"
#include "host/cli/exit_code.h"
#include "host/cli/json_lines.h"
#include "host/cli/json_text.h"
#include "host/cli/progress_bar.h"
#include "host/cli/status_text.h"
#include "host/cli/text_table.h"

using namespace glmhost::cli;
using namespace glmhost::protocol;

namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string utf8_refusal(std::string_view text) {
  try {
    require_utf8(text, "The prompt");
  } catch (const Failure& failure) {
    CHECK(failure.code() == ExitCode::usage);
    return failure.what();
  }
  return "";
}

}  // namespace

TEST_CASE("text that is not UTF-8 is refused with the place of the first bad byte") {
  CHECK(utf8_refusal("") == "");
  CHECK(utf8_refusal("plain, ü, 工程, 🎣") == "");
  CHECK(contains(utf8_refusal("ab\xff"), "The prompt is not UTF-8 text: byte 3 (line 1)"));
  CHECK(contains(utf8_refusal("ü\n工\xe5\xb7"), "byte 7 (line 2)"));
  CHECK(contains(utf8_refusal("\xc0\xaf"), "byte 1 (line 1)"));
  CHECK(contains(utf8_refusal(std::string(100'000, 'x') + "\x80"), "byte 100001"));
}

TEST_CASE("lines of a batch are counted as an editor counts them") {
  std::string seen;
  for_each_line("a\r\n\n  \nb\nlast", [&](std::size_t number, std::string_view line) {
    seen += std::to_string(number) + "=" + std::string(line) + ";";
  });
  CHECK(seen == "1=a;4=b;5=last;");
  for_each_line("", [](std::size_t, std::string_view) { FAIL("no line"); });
}

TEST_CASE("columns are as wide as they look") {
  CHECK(display_width("abc") == 3);
  CHECK(display_width("工程") == 4);
  CHECK(display_width("ü") == 1);
  CHECK(display_width("\xff") == 1);
  Table table({"NAME", "SIZE"});
  CHECK(table.empty());
  table.add({"工程", "1 B"});
  table.add({"abcdef", ""});
  CHECK(table.text() == "NAME    SIZE\n工程    1 B\nabcdef\n");
}

TEST_CASE("a bar is as full as the work is done") {
  CHECK(bar(0, 4) == "[    ]");
  CHECK(bar(0.5, 4) == "[##  ]");
  CHECK(bar(1, 4) == "[####]");
  CHECK(bar(7, 4) == "[####]");
  CHECK(bar(-1, 4) == "[    ]");
}

TEST_CASE("each error of the daemon has its exit code") {
  CHECK(exit_code(ErrorCode::no_model) == ExitCode::no_model);
  CHECK(exit_code(ErrorCode::model_load_failed) == ExitCode::model_load_failed);
  CHECK(exit_code(ErrorCode::bad_request) == ExitCode::usage);
  CHECK(exit_code(ErrorCode::too_large) == ExitCode::too_large);
  CHECK(exit_code(ErrorCode::cancelled) == ExitCode::cancelled);
  CHECK(exit_code(ErrorCode::deadline) == ExitCode::deadline);
  CHECK(exit_code(ErrorCode::busy) == ExitCode::busy);
  CHECK(exit_code(ErrorCode::backend_failed) == ExitCode::failure);
  CHECK(exit_code(ErrorCode::internal) == ExitCode::failure);
  CHECK(exit_code(glmhost::ErrorKind::context_exceeded) == ExitCode::too_large);
  CHECK(exit_code(glmhost::ErrorKind::bad_file) == ExitCode::model_load_failed);
}

TEST_CASE("each exit code has a name for scripts") {
  CHECK(name(ExitCode::usage) == "bad_request");
  CHECK(name(ExitCode::failure) == "failed");
  CHECK(name(ExitCode::already_running) == "already_running");
  for (const ErrorCode code : {ErrorCode::no_model, ErrorCode::model_load_failed, ErrorCode::bad_request,
                               ErrorCode::too_large, ErrorCode::cancelled, ErrorCode::deadline, ErrorCode::busy}) {
    CHECK(name(exit_code(code)) == glmhost::protocol::name(code));
  }
  CHECK(Failure(ExitCode::no_daemon, "x").error_code() == "no_daemon");
  CHECK(Failure(ExitCode::failure, "x", "internal").error_code() == "internal");
}

TEST_CASE("an answer as JSON holds all of it") {
  Result result;
  result.content = "Hi\n";
  result.model = "m";
  result.finish_reason = "stop";
  result.usage.prompt_tokens = 5;
  const Json json = answer_json(result);
  CHECK(json["content"] == "Hi\n");
  CHECK(json["finish_reason"] == "stop");
  CHECK(json["from_memo"] == false);
  CHECK(json["usage"]["prompt_tokens"] == 5);
  CHECK(json_line(error_json("busy", "Later.\xff")) ==
        "{\"error\":{\"code\":\"busy\",\"message\":\"Later.\xEF\xBF\xBD\"}}\n");
}

TEST_CASE("a status is told in words") {
  Status status;
  status.pid = 42;
  status.version = "1.2.3";
  status.endpoint = "ipc:///run/x";
  status.uptime_s = 7300;
  status.threads = 1;
  status.kernels = "avx2";
  status.queue.running = 2;
  CHECK(contains(status_text(status), "No models yet"));
  CHECK(contains(loaded_models_text(status), "No model is loaded"));
  ModelStatus model;
  model.name = "工程";
  model.state = "loading";
  model.load_fraction = 0.456;
  model.file_bytes = 98'362'432;
  model.note = "half of it is missing";
  status.models.push_back(model);
  model.name = "idle";
  model.state = "available";
  model.note = "";
  status.models.push_back(model);
  const std::string text = status_text(status);
  CHECK(contains(text, "process 42, version 1.2.3, up for 2 h"));
  CHECK(contains(text, "avx2, 1 thread\n"));
  CHECK(contains(text, "2 running, 0 waiting"));
  CHECK(contains(text, "loading, 46 %"));
  CHECK(contains(text, "98.4 MB"));
  CHECK(contains(text, "工程: half of it is missing"));
  CHECK(contains(loaded_models_text(status), "工程"));
  CHECK_FALSE(contains(loaded_models_text(status), "idle"));
}

TEST_CASE("durations are rough") {
  CHECK(rough_duration(0) == "0 s");
  CHECK(rough_duration(119) == "119 s");
  CHECK(rough_duration(120) == "2 min");
  CHECK(rough_duration(7200) == "2 h");
  CHECK(rough_duration(3 * 86400) == "3 days");
}
