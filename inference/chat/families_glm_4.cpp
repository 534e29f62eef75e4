// The generations before GLM-4.5: <|role|>, a line break, the content.
#include "inference/chat/families.h"
#include "inference/chat/jinja/python_text.h"

namespace glmhost::chat {
namespace {

using jinja::dump;
using jinja::strip;

constexpr std::string_view kCallByJson = "\n在调用上述函数时，请使用 Json 格式表示调用的参数。";

// The tools that GLM-4-9B-Chat was trained with by name, as the vendor describes them to the model.
constexpr std::string_view kPython =
    "\n## python\n\n"
    "当你向 `python` 发送包含 Python 代码的消息时，该代码将会在一个有状态的 Jupyter notebook 环境中执行。\n"
    "`python` 返回代码执行的输出，或在执行 60 秒后返回超时。\n"
    "`/mnt/data` 将会持久化存储你的文件。在此会话中，`python` 无法访问互联网。不要使用 `python` "
    "进行任何网络请求或者在线 API 调用，这些在线内容的访问将不会成功。";
constexpr std::string_view kBrowser =
    "\n## simple_browser\n\n"
    "你可以使用 `simple_browser` 工具。该工具支持以下函数：\n"
    "`search(query: str, recency_days: int)`：使用搜索引擎进行查询并显示结果，可以使用 `recency_days` "
    "参数控制搜索内容的时效性。\n"
    "`mclick(ids: list[int])`：获取一系列指定 id "
    "的页面内容。每次调用时，须选择3-"
    "10个页面。选择多个角度的页面，同时尽可能选择可信任的信息来源。考虑到部分页面是无法加"
    "载的，你也可以多打开一些可能有用的页面而不用担心内容过多。\n"
    "`open_url(url: str)`：打开指定的 URL。\n\n"
    "使用 `【{引用 id}†{引用文本}】` 来引用内容。\n\n"
    "操作步骤：1. 使用 `search` 来获得信息列表; 2. 使用 `mclick` 来获取指定 ID 页面的内容; 3. "
    "根据获得的内容进行回复。在回复中应当引用信息来源。\n"
    " 如果用户提供了 URL，也可以用 `open_url` 直接打开页面。\n"
    "如果初次搜索结果没有找到合适的信息，也可以再次使用 `search` 进行搜索。";
constexpr std::string_view kImages =
    "\n## cogview\n\n"
    "如果用户的请求中包含了对图像的描述，你可以使用 `cogview` 来生成图像并展示给用户。你需要向 `cogview` "
    "发送图像描述，规则：\n"
    "- 发送给 `cogview` 的消息必须使用英语。用户的中文描述必须完全翻译为英语。\n"
    "- 应当尽可能详细地描述图像生成的需求，需求描述约 100 英文单词。\n"
    "- 保持用户原始描述的意图。不要虚构内容或者没见过的人物。\n"
    "- 如无特殊说明，所在地为中国，持有中国立场并遵循中国社会主义价值观。";

void write_function(const Json& function, PromptWriter& out) {
  out.own("\n## ").given(function_name(function)).own("\n\n").given(dump(function, 4)).own(kCallByJson);
}

void write_glm_4_9b_tools(const Json& tools, PromptWriter& out) {
  out.own(
      "<|system|>\n你是一个名为 ChatGLM 的人工智能助手。你是基于智谱AI训练的语言模型 GLM-4 "
      "模型开发的，你的任务是针对用户的问题和要求提供适当的答复和支持。\n\n# 可用工具");
  for (const Json& tool : tools) {
    const Json type = tool.value("type", Json());
    if (type == "function") write_function(function_of(tool), out);
    if (type == "python") out.own(kPython);
    if (type == "simple_browser") out.own(kBrowser);
    if (type == "cogview") out.own(kImages);
  }
}

}  // namespace

void write_glm_4_9b_chat(const Conversation& conversation, PromptWriter& out) {
  out.own("[gMASK]<sop>");
  // The vendor's template knows tools inside a message only and puts them before its content; tools of the whole
  // request are told the same way, first of all.
  if (conversation.has_tools()) write_glm_4_9b_tools(*conversation.tools, out);
  for (const Message& message : conversation.messages) {
    if (message.tools != nullptr) write_glm_4_9b_tools(*message.tools, out);
    const std::string content = message.content.text();
    if (content.empty()) continue;
    out.own("<|").own(name(message.role)).own("|>").given(message.metadata).own("\n").given(content);
    if (&message == &conversation.messages.back()) out.end_of_final_content();
  }
  if (conversation.add_generation_prompt) out.own("<|assistant|>");
}

void write_glm_edge(const Conversation& conversation, PromptWriter& out) {
  for (const Message& message : conversation.messages) {
    if (message.role != Role::system && message.role != Role::user && message.role != Role::assistant) continue;
    out.own("<|").own(name(message.role)).own("|>\n").given(message.content.text());
    if (&message == &conversation.messages.back()) out.end_of_final_content();
  }
  out.own("<|assistant|>");  // also where no generation prompt is asked for
}

void write_glm_z1(const Conversation& conversation, PromptWriter& out) {
  out.own("[gMASK]<sop>");
  if (conversation.has_tools()) {
    out.own(
        "<|system|>\n你是一个名为 ChatGLM 的人工智能助手。你是基于智谱 AI 公司训练的语言模型 GLM-4 "
        "模型开发的，你的任务是针对用户的问题和要求提供适当的答复和支持。\n\n# 可用工具");
    for (const Json& tool : *conversation.tools) write_function(function_of(tool), out);
  }
  for (const Message& message : conversation.messages) {
    if (message.role == Role::system) out.own("<|system|>\n").given(message.content.text());
  }
  for (const Message& message : conversation.messages) {
    if (message.role != Role::user && message.role != Role::assistant && message.role != Role::observation) continue;
    const std::string content = message.content.text();
    const std::size_t thought = content.rfind("</think>");
    const std::string_view visible = std::string_view(content).substr(
        thought == std::string::npos ? 0 : thought + std::string_view("</think>").size());
    out.own("<|").own(name(message.role)).own("|>");
    if (message.role == Role::assistant) out.given(message.metadata);
    out.own("\n").given(strip(visible));
    if (&message == &conversation.messages.back()) out.end_of_final_content();
  }
  if (conversation.add_generation_prompt) {
    out.own("<|assistant|>\n<think>");
    out.reasoning_is_open();
  }
}

}  // namespace glmhost::chat
