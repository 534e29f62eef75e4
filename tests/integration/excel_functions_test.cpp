// The worksheet functions against a daemon of their own.
#ifndef _WIN32

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "excel-addin/functions/add_in.h"
#include "host/ranges/writer.h"
#include "tests/integration/daemon_process.h"

namespace glmhost::integration {
namespace {

using namespace functions;
using formula::Array;
using formula::ErrorCode;

AddInOptions options_for(const DaemonProcess& daemon) {
  AddInOptions options;
  options.client.program = "integration test";
  options.client.runtime_folder = daemon.runtime();
  options.retry = std::chrono::milliseconds(50);
  options.default_options = "max_tokens=40";
  return options;
}

Cell at(std::uint32_t row, std::uint32_t column = 1) {
  return {"[Book1]Sheet1", row, column};
}

// What Excel does: calls, and calls again when it is told of a change.
class Sheet {
 public:
  explicit Sheet(AddIn& add_in) : add_in_(add_in) {}

  Reply ask(FunctionId function, const std::vector<Argument>& arguments, const Cell& cell) {
    return until_done([&] { return add_in_.call(function, arguments, cell); });
  }

  template <class Call>
  Reply until_done(const Call& call) {
    const auto end = Clock::now() + kPatience;
    Reply reply = call();
    while (reply.state == State::pending && Clock::now() < end) {
      REQUIRE(reply.topic);
      std::unique_lock lock(mutex_);
      const auto seen = changes_;
      const auto id = add_in_.subscribe(*reply.topic, [this] {
        const std::lock_guard guard(mutex_);
        ++changes_;
        wake_.notify_all();
      });
      // The answer may have come before the subscription.
      wake_.wait_for(lock, std::chrono::milliseconds(200), [&] { return changes_ > seen; });
      lock.unlock();
      add_in_.unsubscribe(id);
      reply = call();
    }
    return reply;
  }

 private:
  AddIn& add_in_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::uint64_t changes_ = 0;
};

Argument text(const std::string& words) {
  return Argument::of(Value(words));
}

Argument column(const std::vector<std::string>& words) {
  Array array(words.size(), 1);
  for (std::size_t i = 0; i < words.size(); ++i) array[i] = Value(words[i]);
  return Argument::of(array);
}

Argument labels() {
  Array array(1, 3);
  array[0] = Value("good");
  array[1] = Value("bad");
  array[2] = Value("unclear");
  return Argument::of(array);
}

TEST_CASE("each function gives its type, and a second add-in costs no model work") {
  DaemonProcess daemon;
  daemon.start();
  for (int round = 0; round < 2; ++round) {
    AddIn add_in(options_for(daemon));
    Sheet sheet(add_in);
    const Reply words = sheet.ask(FunctionId::glm, {text("Say hello to"), text("Ann")}, at(0));
    CHECK(words.state == State::done);
    CHECK(words.value.is_text());
    const Reply legs = sheet.ask(FunctionId::number, {text("How many legs has a dog?")}, at(1));
    CHECK_MESSAGE(legs.value.is_number(), add_in.error_of(at(1)));
    const Reply date = sheet.ask(FunctionId::date, {text("A day in 2024")}, at(2));
    REQUIRE_MESSAGE(date.value.is_number(), add_in.error_of(at(2)));
    CHECK(date.value.kind() == formula::NumberKind::date);
    CHECK(sheet.ask(FunctionId::boolean, {text("Is water wet?")}, at(3)).value.is_boolean());
    const Reply with = sheet.ask(FunctionId::with, {text("max_tokens = 3; seed=7"), text("Count")}, at(4));
    CHECK(with.state == State::done);
    const Reply classes =
        sheet.ask(FunctionId::classify, {column({"I love it", "", "Awful", "I love it"}), labels()}, at(5));
    REQUIRE(classes.value.is_array());
    const Array& array = classes.value.array();
    CHECK(array.rows() == 4);
    for (const std::size_t i : {0, 2, 3}) {
      const std::string& label = array[i].text();
      CHECK((label == "good" || label == "bad" || label == "unclear"));
    }
    CHECK(array[1].text().empty());
    CHECK(array[0].text() == array[3].text());
    // A formula of one cell asks the same as a cell of the array did.
    const auto before = add_in.counters().requests;
    CHECK(sheet.ask(FunctionId::classify, {text("Awful"), labels()}, at(6)).value.text() == array[2].text());
    CHECK(add_in.counters().requests == before);
    const Reply fields = sheet.ask(FunctionId::with, {text("max_tokens=200"), text("x")}, at(7));
    CHECK(fields.state == State::done);
    const auto counters = add_in.counters();
    CHECK(counters.answers > 0);
    if (round == 1) CHECK(counters.from_memo == counters.answers);
  }
  // Cut inside of its form: an error value with a sentence, and no text that looks like an answer.
  AddInOptions short_answers = options_for(daemon);
  short_answers.default_options = "max_tokens=3";
  AddIn add_in(short_answers);
  Sheet sheet(add_in);
  const Reply cut =
      sheet.ask(FunctionId::extract,
                {text("Ann owes 12.50"), column({"a_rather_long_name:number", "another_long_name:date"})}, at(9));
  CHECK(cut.state == State::failed);
  REQUIRE(cut.value.is_array());
  CHECK(cut.value.array()[0].is_error());
  CHECK(add_in.error_of(at(9)).find("max_tokens") != std::string::npos);
  CHECK(add_in.status_of(at(9)) == "failed");
}

TEST_CASE("a thousand formulas are one batch; calculating them again asks nothing") {
  DaemonProcess daemon;
  daemon.start();
  AddIn add_in(options_for(daemon));
  Sheet sheet(add_in);
  constexpr std::uint32_t kCells = 200;
  const auto calculate = [&](std::uint32_t row) {
    const std::vector<Argument> arguments = {text("Text number " + std::to_string(row)), labels()};
    return add_in.call(FunctionId::classify, arguments, at(row));
  };
  for (std::uint32_t row = 0; row < kCells; ++row) {
    const Reply reply = calculate(row);
    CHECK(reply.state == State::pending);
    CHECK(reply.value.error() == ErrorCode::getting_data);
  }
  add_in.calculation_ended();
  for (std::uint32_t row = 0; row < kCells; ++row) {
    CHECK(sheet.until_done([&] { return calculate(row); }).state == State::done);
  }
  CHECK(add_in.counters().requests == kCells);
  CHECK(add_in.counters().batches <= 3);
  add_in.calculation_ended();
  const auto start = Clock::now();
  for (std::uint32_t row = 0; row < kCells; ++row) REQUIRE(calculate(row).state == State::done);
  MESSAGE("calculating " << kCells << " cells again: "
                         << std::chrono::duration<double, std::milli>(Clock::now() - start).count() << " ms");
  CHECK(add_in.counters().requests == kCells);
}

TEST_CASE("a missing daemon: said once, earlier values stay, and all goes on when it comes") {
  DaemonProcess daemon;
  daemon.start();
  AddIn add_in(options_for(daemon));
  Sheet sheet(add_in);
  const auto ask = [&](const std::string& words, std::uint32_t row) {
    const std::vector<Argument> arguments = {text(words)};
    return add_in.call(FunctionId::glm, arguments, at(row));
  };
  const Reply first = sheet.until_done([&] { return ask("One", 0); });
  REQUIRE(first.state == State::done);
  daemon.kill_now();
  add_in.calculation_ended();
  CHECK(ask("One", 0).state == State::done);  // what is known stays known
  // The cell's formula changes: it shows what it showed. A cell that has shown nothing says what is wrong.
  add_in.calculation_ended();
  const Reply changed = ask("Two", 0);
  CHECK(changed.state == State::pending);
  CHECK(changed.value.text() == first.value.text());
  Reply fresh = ask("Three", 1);
  for (const auto end = Clock::now() + kPatience; fresh.state == State::pending && Clock::now() < end;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    fresh = ask("Three", 1);
  }
  CHECK(fresh.state == State::failed);
  CHECK(fresh.value.error() == ErrorCode::not_available);
  CHECK(fresh.topic);
  CHECK(add_in.error_of(at(1)).find("glm serve") != std::string::npos);
  daemon.start();
  for (const auto end = Clock::now() + kPatience; fresh.state != State::done && Clock::now() < end;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    fresh = ask("Three", 1);
  }
  CHECK(fresh.state == State::done);
  CHECK(add_in.error_of(at(1)).empty());
  CHECK(sheet.until_done([&] { return ask("Two", 0); }).state == State::done);
}

TEST_CASE("cancel all: the engine is free, the cells say so, and ask anew in a later calculation") {
  DaemonProcess daemon;
  daemon.start();
  AddInOptions options = options_for(daemon);
  options.default_options = "max_tokens=100000";
  AddIn add_in(options);
  const std::vector<Argument> arguments = {text("Count to a million")};
  for (std::uint32_t row = 0; row < 20; ++row) add_in.call(FunctionId::glm, arguments, at(row));
  const auto client = daemon.client();
  const auto running = [&] {
    const auto status = client->status();
    return std::get<protocol::Status>(status).queue.running + std::get<protocol::Status>(status).queue.waiting;
  };
  for (const auto end = Clock::now() + kPatience; running() == 0 && Clock::now() < end;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  add_in.cancel_all();
  const Reply reply = add_in.call(FunctionId::glm, arguments, at(0));
  CHECK(reply.state == State::cancelled);
  CHECK_FALSE(reply.topic);
  CHECK(add_in.status_of(at(0)) == "cancelled");
  for (const auto end = Clock::now() + kPatience; running() > 0 && Clock::now() < end;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  CHECK(running() == 0);
  CHECK(add_in.call(FunctionId::glm, arguments, at(0)).state == State::cancelled);  // the same calculation
  add_in.calculation_ended();
  CHECK(add_in.call(FunctionId::glm, arguments, at(0)).state == State::pending);
  add_in.cancel_all();
}

ranges::Segment orders() {
  ranges::Writer writer(4, 2);
  const char* const regions[] = {"north", "south", "north", "east"};
  const double amounts[] = {10, 20, 30, 5};
  writer.set_name(0, "region");
  writer.set_name(1, "amount");
  for (const char* region : regions) writer.column(0).add_text(std::string_view(region));
  writer.column(1).add_numbers(amounts);
  return writer.seal();
}

TEST_CASE("GLM.TABLE: a pipeline over ranges, its mistakes with their place, and no segment left") {
  const std::size_t before = ranges::count_segments();
  {
    DaemonProcess daemon;
    daemon.start();
    AddIn add_in(options_for(daemon));
    Sheet sheet(add_in);
    const auto run = [&](const std::string& pipeline, std::uint32_t row) {
      return sheet.until_done([&] {
        const std::vector<ranges::Segment> tables = {orders()};
        return add_in.call_table(text(pipeline), tables, at(row));
      });
    };
    const Reply reply = run("group region (total = SUM(amount)) | sort -total", 0);
    REQUIRE(reply.state == State::done);
    REQUIRE(reply.table);
    CHECK(reply.table->rows() == 3);
    CHECK(reply.table->column(0).name() == "region");
    CHECK(reply.table->column(0).text(0) == "north");
    CHECK(reply.table->column(1).number(0) == 40);
    CHECK(reply.table->column(1).number(2) == 5);
    const Reply joined = run("join table1 on region | take 1", 1);
    CHECK_MESSAGE(joined.state == State::done, add_in.error_of(at(1)));
    const Reply wrong = run("filter amuont > 3", 2);
    CHECK(wrong.state == State::failed);
    CHECK(wrong.value.error() == ErrorCode::value);
    CHECK(add_in.error_of(at(2)).find("column 8") != std::string::npos);
    CHECK(add_in.error_of(at(2)).find("amount") != std::string::npos);
  }
  CHECK(ranges::count_segments() == before);
}

TEST_CASE("ten thousand pending cells: how long a call takes") {
  DaemonProcess daemon;  // not started: all of them stay pending
  AddIn add_in(options_for(daemon));
  std::vector<double> microseconds;
  for (std::uint32_t row = 0; row < 10'000; ++row) {
    const std::vector<Argument> arguments = {text("Text number " + std::to_string(row)), labels()};
    const Cell cell = at(row);
    const auto start = Clock::now();
    const Reply reply = add_in.call(FunctionId::classify, arguments, cell);
    microseconds.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
    REQUIRE(reply.topic);
  }
  std::sort(microseconds.begin(), microseconds.end());
  MESSAGE("a call that asks: median " << microseconds[5000] << " us, p99 " << microseconds[9900] << " us");
  CHECK(add_in.counters().open == 10'000);
}

}  // namespace
}  // namespace glmhost::integration

#endif
