#include "inference/chat/model_template.h"

#include <algorithm>
#include <utility>

#include "inference/chat/conversation.h"
#include "inference/chat/family.h"

namespace glmhost::chat {
namespace {

constexpr std::size_t kLongestDescription = 240;

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string shortened(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

Json message(const char* role, const Json& content) {
  return {{"role", role}, {"content", content}};
}

// A template that cannot do this is of no use.
RenderRequest plain_conversation() {
  RenderRequest request;
  request.messages = Json::array({message("user", "Hello"), message("assistant", "Hi."), message("user", "How?")});
  request.today = std::chrono::year(2026) / 1 / 1;
  return request;
}

// --- a request in the template's terms

void rename_roles(Json& messages, std::string_view source) {
  for (Json& each : messages) {
    Json& role = each["role"];
    if (role == "developer" && !has(source, "developer")) role = "system";
    if (role == "function") role = "tool";
  }
}

void parse_arguments(Json& messages) {
  for (Json& each : messages) {
    const auto calls = each.find("tool_calls");
    if (calls == each.end() || !calls->is_array()) continue;
    for (Json& call : *calls) {
      Json& function = call.contains("function") && call["function"].is_object() ? call["function"] : call;
      const auto arguments = function.find("arguments");
      if (arguments == function.end() || !arguments->is_string()) continue;
      const std::string text = arguments->get<std::string>();
      *arguments = text.empty() ? Json::object() : Json::parse(text);  // an object's, as was checked
    }
  }
}

bool is_text_part(const Json& part) {
  return part.is_string() || (part.is_object() && part.value("type", Json()) == "text" && part.contains("text"));
}

void join_parts(Json& content, const std::string& field) {
  std::string joined;
  for (const Json& part : content) {
    if (!is_text_part(part)) refuse(field + ": the model's chat template takes text only.");
    joined += (part.is_string() ? part : part["text"]).get_ref<const std::string&>();
  }
  content = joined;
}

// A tool's result in text parts is one text; any other list there is a list of results.
void join_contents(Json& messages, bool takes_parts) {
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const auto content = messages[i].find("content");
    if (content == messages[i].end() || !content->is_array()) continue;
    const bool is_tool = messages[i]["role"] == "tool";
    const bool is_one_text = std::all_of(content->begin(), content->end(),
                                         [](const Json& part) { return part.is_object() && is_text_part(part); });
    if (is_tool ? is_one_text && !content->empty() : !takes_parts) {
      join_parts(*content, "messages[" + std::to_string(i) + "].content");
    }
  }
}

bool is_result(const Json& message) {
  const Json role = message.value("role", Json());
  return role == "tool" || role == "function" || role == "observation" || role == "ipython";
}

bool is_call(const Json& message) {
  const auto calls = message.find("tool_calls");
  if (calls != message.end() && calls->is_array() && !calls->empty()) return true;
  return message.contains("metadata") && message["metadata"].is_string() && message["metadata"] != "";
}

bool knows_id(const Json& message, const Json& id) {
  bool has_ids = false;
  for (const Json& call : message.value("tool_calls", Json::array())) {
    if (!call.is_object() || !call.contains("id")) continue;
    has_ids = true;
    if (call["id"] == id) return true;
  }
  return !has_ids;
}

// Results follow the message that called, with nothing but other results between.
void check_results(const Json& messages) {
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (!is_result(messages[i])) continue;
    const std::string field = "messages[" + std::to_string(i) + "]";
    std::size_t caller = i;
    while (caller > 0 && is_result(messages[caller])) --caller;
    // Before GLM-4.5 a call is the text of an assistant's message.
    const bool is_plain_answer =
        messages[i]["role"] == "observation" && messages[caller].value("role", Json()) == "assistant";
    if (is_result(messages[caller]) || !(is_call(messages[caller]) || is_plain_answer)) {
      refuse(field + " is a tool's result, but no assistant message with tool_calls stands before it.");
    }
    const auto id = messages[i].find("tool_call_id");
    if (id != messages[i].end() && !id->is_null() && !knows_id(messages[caller], *id)) {
      refuse(field + ".tool_call_id is not the id of a call in messages[" + std::to_string(caller) + "].tool_calls.");
    }
  }
}

}  // namespace

SpecialTokens special_tokens(const model_files::GgufFile& file, const tokenizer::Tokenizer& tokenizer) {
  SpecialTokens special;
  constexpr std::pair<const char*, const char*> kNames[] = {{"bos_token", "tokenizer.ggml.bos_token_id"},
                                                            {"eos_token", "tokenizer.ggml.eos_token_id"},
                                                            {"pad_token", "tokenizer.ggml.padding_token_id"},
                                                            {"unk_token", "tokenizer.ggml.unknown_token_id"}};
  for (const auto& [name, key] : kNames) {
    const std::optional<std::uint64_t> id = file.get_unsigned(key);
    if (!id || *id >= static_cast<std::uint64_t>(tokenizer.vocabulary_size())) continue;
    special.emplace_back(name, tokenizer.bytes(static_cast<tokenizer::TokenId>(*id), true));
  }
  return special;
}

ModelTemplate::ModelTemplate(Family family) : family_(family) {}

ModelTemplate::ModelTemplate(std::string_view source, SpecialTokens special, std::optional<Family> family)
    : family_(family) {
  try {
    auto own = std::make_shared<const Own>(Own{std::string(source), std::move(special), jinja::Template(source)});
    chat::render(own->parsed, plain_conversation(), own->special);
    own_ = std::move(own);
  } catch (const Error& error) {
    failure_ = error.what();
  }
}

ModelTemplate ModelTemplate::of(const model_files::GgufFile& file, const tokenizer::Tokenizer& tokenizer) {
  const std::optional<Family> family = detect_family(file, tokenizer);
  if (const auto source = file.get_string("tokenizer.chat_template")) {
    return ModelTemplate(*source, special_tokens(file, tokenizer), family);
  }
  return family ? ModelTemplate(*family) : ModelTemplate();
}

std::string ModelTemplate::to_text() const {
  if (!own_ && failure_.empty()) return std::string(family_ ? name(*family_) : std::string_view());
  Json text = Json::object();
  if (family_) text["family"] = name(*family_);
  if (!own_) {
    text["failure"] = failure_;
  } else {
    text["source"] = own_->source;
    for (const auto& [name, token] : own_->special) text["special"][name] = token;
  }
  return text.dump(-1, ' ', false, Json::error_handler_t::replace);
}

ModelTemplate ModelTemplate::from_text(std::string_view text) {
  if (const auto family = find_family(text)) return ModelTemplate(*family);
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return {};
  for (const auto& [key, value] : json.items()) {
    if (key == "special" ? !value.is_object() : !value.is_string()) return {};
  }
  ModelTemplate made;
  made.family_ = find_family(json.value("family", std::string()));
  made.failure_ = json.value("failure", std::string());
  const auto source = json.find("source");
  if (source == json.end()) return made;
  SpecialTokens special;
  const Json tokens = json.value("special", Json::object());
  for (const auto& [name, token] : tokens.items()) {
    if (token.is_string()) special.emplace_back(name, token.get<std::string>());
  }
  try {
    // That it works was found out when the text was made.
    const std::string& text_of_source = source->get_ref<const std::string&>();
    made.own_ = std::make_shared<const Own>(Own{text_of_source, std::move(special), jinja::Template(text_of_source)});
  } catch (const Error& error) {
    made.failure_ = error.what();
  }
  return made;
}

std::string ModelTemplate::description() const {
  if (own_) return "model file";
  if (!family_) {
    return failure_.empty() ? "none (a base model: one text is continued as it stands)"
                            : shortened("none; " + failure_, kLongestDescription);
  }
  const std::string built_in = std::string(name(*family_)) + " (built in)";
  if (failure_.empty()) return built_in;
  return shortened(built_in + "; the model file's own template is left out: " + failure_, kLongestDescription);
}

Prompt ModelTemplate::render(RenderRequest request) const {
  parse_conversation(request);  // for its checks
  check_results(request.messages);
  std::string failure;
  if (own_) {
    try {
      return render_own(request);
    } catch (const jinja::TemplateError& error) {
      if (error.failure() == jinja::Failure::raised || !family_) {
        throw Error(ErrorKind::bad_argument, error.what());
      }
      failure = error.what();
    } catch (const Error& error) {
      if (!family_) throw;
      failure = error.what();
    }
  }
  Prompt prompt = chat::render(*family_, with_known_roles(*family_, std::move(request)));
  prompt.template_failure = std::move(failure);
  return prompt;
}

Prompt ModelTemplate::render_own(RenderRequest request) const {
  if (family_) request = with_known_roles(*family_, std::move(request));
  rename_roles(request.messages, own_->source);
  parse_arguments(request.messages);
  const bool has_lists = std::any_of(request.messages.begin(), request.messages.end(), [](const Json& each) {
    return each.contains("content") && each["content"].is_array();
  });
  if (has_lists) join_contents(request.messages, takes_parts());
  Prompt prompt = chat::render(own_->parsed, request, own_->special);
  if (!takes_tools(request, prompt)) {
    refuse("tools: the model's chat template has no place for tools. Leave them out, or use a model that takes them.");
  }
  return prompt;
}

bool ModelTemplate::takes_parts() const {
  constexpr const char* kProbe = "text in a part";
  RenderRequest request = plain_conversation();
  request.messages[2]["content"] = Json::array({{{"type", "text"}, {"text", kProbe}}});
  try {
    const std::string text = chat::render(own_->parsed, request, own_->special).text();
    return has(text, kProbe) && !has(text, "'text'") && !has(text, "\"text\"");
  } catch (const Error&) {
    return false;
  }
}

bool ModelTemplate::takes_tools(const RenderRequest& request, const Prompt& with_tools) const {
  if (!request.tools.is_array() || request.tools.empty()) return true;
  if (!own_->parsed.reads("tools")) return false;
  RenderRequest without = request;
  without.tools = nullptr;
  return chat::render(own_->parsed, without, own_->special).text() != with_tools.text();
}

ReasoningSplitter ModelTemplate::splitter(const Prompt& prompt) const {
  if (family_) return ReasoningSplitter(*family_, prompt);
  return ReasoningSplitter(own_ && has(own_->source, "<think>"), prompt);
}

ToolCallFormat ModelTemplate::tool_call_format() const {
  return chat::tool_call_format(family_, own_ ? std::string_view(own_->source) : std::string_view());
}

}  // namespace glmhost::chat
