// Arbitrary bytes as a chat template, run on a conversation that uses every kind of value: it renders, raises or fails
// with a sentence, within small limits, and marks every byte of what it writes.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "inference/chat/jinja/template.h"

using namespace glmhost;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

const jinja::Json& variables() {
  static const jinja::Json made = jinja::Json::parse(R"({
    "s": "Héllo <|user|>", "n": 7, "f": 2.5, "t": true, "none": null, "xs": [3, 1, 2, "b"], "d": {"b": 1, "a": [1, {}]},
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
    "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "日本 😀"},
                 {"role": "assistant", "content": "<think>\nx\n</think>\n\ny"}], "add_generation_prompt": true})");
  return made;
}

jinja::Limits small_limits() {
  return {
      .steps = 20'000, .steps_per_input_byte = 0, .made_bytes = 1 << 20, .made_bytes_per_input_byte = 0, .depth = 150};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view source(reinterpret_cast<const char*>(data), size);
  try {
    const jinja::Template parsed(source);
    const jinja::Text text = parsed.render(
        [](jinja::Runtime& runtime) {
          jinja::Variables made;
          for (const auto& [name, value] : variables().items()) {
            made.emplace_back(name, jinja::from_json(runtime, value, jinja::Origin::given));
          }
          return made;
        },
        std::chrono::local_days(std::chrono::year(2026) / 2 / 3), small_limits());
    require(text.runs().empty() == text.empty());
    require(text.empty() || text.runs().back().end == text.size());
  } catch (const jinja::TemplateError& error) {
    require(error.failure() == jinja::Failure::raised || std::string_view(error.what()).ends_with('.'));
    require(error.failure() != jinja::Failure::syntax || (error.line() > 0 && error.column() > 0));
  }
  return 0;
}
