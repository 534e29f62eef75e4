#include "tests/unit/host/protocol/random_messages.h"

#include <algorithm>
#include <limits>

namespace glmhost::test {
namespace {

using namespace protocol;

std::uint64_t below(Random& random, std::uint64_t end) {
  return random() % end;
}
bool coin(Random& random) {
  return below(random, 2) == 0;
}

// Any value, small ones and the ends among them more often.
template <class Number>
Number any(Random& random, Number min = std::numeric_limits<Number>::min(),
           Number max = std::numeric_limits<Number>::max()) {
  switch (below(random, 4)) {
    case 0:
      return min;
    case 1:
      return max;
    case 2: {
      const auto small = static_cast<Number>(below(random, 128));
      return std::clamp(small, min, max);
    }
    default:
      return std::uniform_int_distribution<Number>(min, max)(random);
  }
}

std::string text(Random& random, std::size_t most = 40) {
  static const std::vector<std::string> kPieces = {
      "a", " ", "\n", "\"", std::string(1, '\0'), "é", "表", "\xF0\x9F\x98\x80", "\xEF\xBF\xBD", "<|user|>", "\x7F"};
  std::string made;
  for (std::size_t i = below(random, most + 1); i > 0; --i) {
    const std::string& piece = kPieces[below(random, kPieces.size())];
    if (made.size() + piece.size() <= most) made += piece;
  }
  return made;
}

std::string some_text(Random& random, std::size_t most = 40) {
  std::string made = text(random, most);
  if (made.empty()) made.push_back('x');
  return made;
}

double duration(Random& random) {
  return std::uniform_real_distribution<double>(0, 1e9)(random);
}

nlohmann::ordered_json json(Random& random, int depth) {
  nlohmann::ordered_json value;
  switch (below(random, depth > 0 ? 8 : 6)) {
    case 0:
      return nullptr;
    case 1:
      return coin(random);
    case 2:
      return any<std::int64_t>(random);
    case 3:
      return any<std::uint64_t>(random);
    case 4:
      return std::uniform_real_distribution<double>(-1e300, 1e300)(random);
    case 5:
      return text(random);
    case 6:
      value = nlohmann::ordered_json::array();
      for (auto i = below(random, 4); i > 0; --i) value.push_back(json(random, depth - 1));
      return value;
    default:
      value = nlohmann::ordered_json::object();
      for (auto i = below(random, 4); i > 0; --i) value[text(random)] = json(random, depth - 1);
      return value;
  }
}

Hello hello(Random& random) {
  return {any<std::uint32_t>(random), text(random), text(random), any<std::uint32_t>(random)};
}

OutputForm form(Random& random) {
  OutputForm made;
  made.kind = static_cast<OutputForm::Kind>(below(random, 5));
  if (made.kind == OutputForm::Kind::choice) {
    for (auto i = below(random, 5); i > 0; --i) made.choices.push_back(text(random));
  } else {
    made.text = text(random, 2000);
  }
  return made;
}

std::vector<ToolCall> tool_calls(Random& random) {
  std::vector<ToolCall> made;
  for (auto i = below(random, 4); i > 0; --i) {
    made.push_back({.id = some_text(random),
                    .name = text(random),
                    .arguments = text(random, 500),
                    .status = text(random),
                    .problem = text(random, 200),
                    .source = text(random, 500)});
  }
  return made;
}

Request request(Random& random) {
  Request made;
  made.model = text(random);
  if (coin(random)) {
    made.messages = nlohmann::ordered_json::array();
    for (auto i = below(random, 5) + 1; i > 0; --i) {
      nlohmann::ordered_json message = {{"role", some_text(random)}};
      if (coin(random)) message["content"] = json(random, 3);
      if (coin(random)) message["tool_calls"] = json(random, 5);
      made.messages.push_back(std::move(message));
    }
  } else if (coin(random)) {
    made.prompt = some_text(random, 5000);
  } else {
    Infill& infill = made.infill.emplace();
    infill.prefix = text(random, 5000);
    infill.suffix = text(random, 500);
    infill.language = text(random);
    infill.path = text(random);
    infill.one_line = coin(random);
    for (auto i = below(random, 4); i > 0; --i) infill.context.push_back({text(random), text(random, 300)});
  }
  if (coin(random)) made.enable_thinking = coin(random);
  made.max_tokens = any<std::int32_t>(random, 1, 1'048'576);
  made.temperature = std::uniform_real_distribution<float>(0, 10)(random);
  made.top_k = any<std::int32_t>(random, 0, 1'000'000);
  made.top_p = coin(random) ? 1.0f : std::uniform_real_distribution<float>(0.001f, 1)(random);
  made.min_p = std::uniform_real_distribution<float>(0, 0.999f)(random);
  made.repetition_penalty = std::uniform_real_distribution<float>(0.001f, 10)(random);
  made.seed = any<std::uint64_t>(random);
  made.logprobs = any<std::int32_t>(random, 0, 20);
  // What ends the answer, or what it is to be: one of them at most.
  switch (below(random, 4)) {
    case 0:
      made.form = form(random);
      break;
    case 1:
      for (auto i = below(random, 17); i > 0; --i) made.stop.push_back(some_text(random, 256));
      break;
    case 2:
      if (made.messages.is_null()) break;
      made.tools = nlohmann::ordered_json::array();
      for (auto i = below(random, 4); i > 0; --i) made.tools.push_back({{"function", json(random, 4)}});
      if (made.tools.empty()) break;
      made.tool_choice.kind = static_cast<ToolChoice::Kind>(below(random, 4));
      if (made.tool_choice.kind == ToolChoice::Kind::named) made.tool_choice.name = some_text(random, 64);
      break;
    default:
      break;
  }
  made.priority = coin(random) ? Priority::batch : Priority::interactive;
  made.deadline_ms = any<std::uint32_t>(random, 1, 86'400'000);
  made.credits = any<std::uint32_t>(random, 0, kMaxCredits);
  made.memo = coin(random);
  return made;
}

Delta delta(Random& random) {
  Delta made;
  made.content = text(random, 500);
  made.reasoning = text(random, 500);
  made.tool_calls = tool_calls(random);
  for (auto i = below(random, 4); i > 0; --i) {
    auto& candidates = made.logprobs.emplace_back();
    for (auto j = below(random, 21); j > 0; --j) {
      const float logprob = coin(random) ? 0 : -std::uniform_real_distribution<float>(0, 1e30f)(random);
      TokenProbability& one = candidates.emplace_back();
      one.text = text(random);
      one.logprob = below(random, 20) == 0 ? -std::numeric_limits<float>::infinity() : logprob;
      if (coin(random)) one.constrained_logprob = -std::uniform_real_distribution<float>(0, 100)(random);
    }
  }
  return made;
}

Result result(Random& random) {
  return {text(random, 5000),
          text(random, 500),
          tool_calls(random),
          text(random),
          text(random),
          coin(random),
          {any<std::uint32_t>(random), any<std::uint32_t>(random), any<std::uint32_t>(random), duration(random),
           duration(random), duration(random)}};
}

ModelStatus model_status(Random& random) {
  ModelStatus made;
  for (std::string* field : {&made.name, &made.path, &made.state, &made.architecture, &made.chat_template, &made.note})
    *field = text(random);
  made.name = some_text(random);
  made.load_fraction = std::uniform_real_distribution<double>(0, 1)(random);
  made.file_bytes = any<std::uint64_t>(random);
  made.memory_bytes = any<std::uint64_t>(random);
  made.context_tokens = any<std::uint64_t>(random);
  made.unload_in_s = any<std::int64_t>(random, -1);
  return made;
}

Status status(Random& random) {
  Status made;
  made.pid = any<std::uint32_t>(random);
  made.version = text(random);
  made.protocol_version = any<std::uint32_t>(random);
  made.endpoint = text(random);
  made.uptime_s = duration(random);
  made.memory_bytes = any<std::uint64_t>(random);
  made.kernels = text(random);
  made.threads = any<std::uint32_t>(random);
  for (auto i = below(random, 4); i > 0; --i) made.models.push_back(model_status(random));
  QueueStatus& queue = made.queue;
  queue.waiting = any<std::uint32_t>(random);
  queue.running = any<std::uint32_t>(random);
  for (std::uint64_t* field :
       {&queue.answered, &queue.from_memo, &queue.coalesced, &queue.refused, &queue.cancelled, &queue.failed}) {
    *field = any<std::uint64_t>(random);
  }
  return made;
}

}  // namespace

namespace {

TableRequest table_request(Random& random) {
  TableRequest request{text(random, 300), {}, text(random), any<std::uint32_t>(random, 1, 86'400'000)};
  for (std::uint64_t i = 0; i <= below(random, 4); ++i) request.tables.push_back({text(random), text(random)});
  return request;
}

}  // namespace

ClientMessage random_client_message(Random& random, std::size_t kind) {
  switch (kind) {
    case 0:
      return hello(random);
    case 1:
      return request(random);
    case 2:
      return Cancel{};
    case 3:
      return Credit{any<std::uint32_t>(random, 1, kMaxCredits)};
    case 4:
      return StatusRequest{};
    case 5:
      return Control{static_cast<Control::Action>(below(random, 3)), text(random)};
    case 6:
      return Ping{};
    default:
      return table_request(random);
  }
}

DaemonMessage random_daemon_message(Random& random, std::size_t kind) {
  switch (kind) {
    case 0:
      return hello(random);
    case 1:
      return Accepted{text(random), any<std::uint32_t>(random)};
    case 2:
      return delta(random);
    case 3:
      return result(random);
    case 4:
      return ErrorMessage{static_cast<ErrorCode>(below(random, 9)), text(random, 300)};
    case 5:
      return status(random);
    default:
      return Ping{};
  }
}

}  // namespace glmhost::test
