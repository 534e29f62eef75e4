#include "inference/chat/family.h"

#include <algorithm>
#include <array>

#include "inference/chat/families.h"

namespace glmhost::chat {
namespace {

using enum AnswerNewlines;

// In the order of Family.
constexpr std::array<FamilyFacts, 12> kFamilies = {{
    // family, name, template, thinks, takes tools, takes calls, takes parts, newlines
    {Family::glm_4_9b_chat, "glm-4-9b-chat", write_glm_4_9b_chat, false, true, false, false, one_leading},
    {Family::glm_edge, "glm-edge", write_glm_edge, false, false, false, false, one_leading},
    {Family::glm_z1, "glm-z1", write_glm_z1, true, true, false, false, all_around},
    {Family::glm_4_6, "glm-4.6", write_glm_4_6, true, true, true, true, all_around},
    {Family::glm_4_7_flash, "glm-4.7-flash", write_glm_4_7_flash, true, true, true, true, all_around},
    {Family::glm_5_2, "glm-5.2", write_glm_5_2, true, true, true, true, kept},
    {Family::smollm2, "smollm2", write_smollm2, false, false, false, false, kept},
    {Family::gemma_3, "gemma-3", write_gemma_3, false, false, false, true, kept},
    {Family::llama_3_1, "llama-3.1", write_llama_3_1, false, true, true, false, kept},
    {Family::llama_3_2, "llama-3.2", write_llama_3_2, false, true, true, false, kept},
    {Family::llama_3, "llama-3", write_llama_3, false, false, false, false, kept},
    {Family::chatml, "chatml", write_chatml, false, false, false, false, kept},
}};

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < kFamilies.size(); ++i) {
    if (static_cast<std::size_t>(kFamilies[i].family) != i) return false;
  }
  return true;
}
static_assert(is_in_order());

}  // namespace

const FamilyFacts& facts(Family family) {
  return kFamilies.at(static_cast<std::size_t>(family));
}

std::optional<Family> find_family(std::string_view name) {
  const auto found =
      std::find_if(kFamilies.begin(), kFamilies.end(), [&](const FamilyFacts& entry) { return entry.name == name; });
  return found == kFamilies.end() ? std::nullopt : std::optional(found->family);
}

std::string_view name(Family family) {
  return facts(family).name;
}

std::vector<std::string_view> family_names() {
  std::vector<std::string_view> names;
  for (const FamilyFacts& entry : kFamilies) names.push_back(entry.name);
  return names;
}

}  // namespace glmhost::chat
