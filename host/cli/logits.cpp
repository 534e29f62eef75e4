#include <algorithm>
#include <bit>
#include <charconv>
#include <fstream>

#include "host/cli/command.h"
#include "host/cli/console.h"
#include "host/cli/model_access.h"
#include "host/cli/progress_bar.h"
#include "host/cli/verbs.h"
#include "host/platform/paths.h"
#include "host/platform/terminal.h"
#include "inference/architectures/sequence.h"

namespace glmhost::cli {
namespace {

constexpr CommandText kText = {
    .verb = "logits",
    .words = "",
    .summary = "Write the logits of every position to a file",
    .details =
        "The file holds raw little-endian float32, positions x vocabulary, row p after token p. --exact computes with "
        "float32 weights, activations and cache: the reference that other engines are compared with. FILE may be - for "
        "stdout.",
    .examples =
        "  glm logits -m model.gguf --tokens 1,2,3 --out logits.f32 --exact\n"
        "  glm logits -m model.gguf --tokens 1,2,3 --out logits.f32 -t 2",
};

constexpr std::int64_t kRowsAtOnce = 64;  // tokens of one forward pass: bounds the memory for logits

std::vector<std::int32_t> parse_tokens(std::string_view text) {
  std::vector<std::int32_t> tokens;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    std::string_view part = text.substr(0, comma);
    while (part.starts_with(' ')) part.remove_prefix(1);
    std::int32_t token = 0;
    const auto [stop, error] = std::from_chars(part.data(), part.data() + part.size(), token);
    if (error != std::errc() || stop != part.data() + part.size() || token < 0) {
      throw Failure(ExitCode::usage, "--tokens is a list of token ids separated by commas, as in 1,2,3; `" +
                                         std::string(part.substr(0, 40)) + "` is no id.");
    }
    tokens.push_back(token);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    if (comma != std::string_view::npos && text.empty()) text = " ,";  // a trailing comma lacks an id
  }
  return tokens;
}

void check_tokens(const std::vector<std::int32_t>& tokens, const architectures::Hyperparameters& model) {
  if (tokens.empty()) throw Failure(ExitCode::usage, "--tokens names no token.");
  for (const std::int32_t token : tokens) {
    if (token >= model.vocabulary) {
      throw Failure(ExitCode::usage, "The token " + std::to_string(token) + " is outside the model's vocabulary of " +
                                         std::to_string(model.vocabulary) + ".");
    }
  }
  const auto count = static_cast<std::int64_t>(tokens.size());
  if (count > model.context_length) {
    throw Error(ErrorKind::context_exceeded,
                std::to_string(count) + " tokens are " + std::to_string(count - model.context_length) +
                    " more than the model's context of " + std::to_string(model.context_length) + ".");
  }
}

static_assert(std::endian::native == std::endian::little, "the file is little-endian");

ExitCode logits(VerbArguments arguments) {
  Command command(kText);
  std::string model_name, list, out_name;
  bool exact = false;
  std::int32_t threads = 0;
  command.text("-m,--model", model_name, "MODEL", "A name from `glm models`, or a path to a .gguf file");
  command.text("--tokens", list, "IDS", "Token ids separated by commas, as `glm tokenize` prints them");
  command.text("--out", out_name, "FILE", "Where the logits go; - for stdout");
  command.flag("--exact", exact, "float32 weights, activations and cache");
  command.number("-t,--threads", threads, 1, 1024, "Threads (one for each core)");
  command.parse(arguments);
  if (!command.given("--tokens") || out_name.empty()) {
    throw Failure(ExitCode::usage, "`glm logits` needs --tokens and --out.");
  }
  const std::vector<std::int32_t> tokens = parse_tokens(list);

  Interrupt interrupt;
  kernels::ThreadPool pool(thread_count(threads));
  const auto file = open_model_file(model_name);
  std::error_code absent;
  const bool to_stdout = out_name == "-";
  if (to_stdout && platform::is_terminal(platform::Stream::out)) {
    throw Failure(ExitCode::usage,
                  "Logits are binary data, which a terminal cannot show: lead stdout to a file or a pipe.");
  }
  if (!to_stdout && std::filesystem::equivalent(file.path(), platform::path_from_utf8(out_name), absent)) {
    throw Failure(ExitCode::usage, "--out names the model's own file, which would be lost. Take another name.");
  }
  const auto count = static_cast<std::int64_t>(tokens.size());
  const std::int64_t rows_at_once = std::min(count, kRowsAtOnce);
  const auto estimate = architectures::Model::estimate(file, exact, rows_at_once);
  const architectures::Hyperparameters shape = shape_of(file);
  check_tokens(tokens, shape);
  const std::int64_t logits_at_once = rows_at_once * shape.vocabulary;
  require_memory(file,
                 {.weights = estimate.weights,
                  .cache = static_cast<std::uint64_t>(count) * estimate.kv_per_token,
                  .workspace = estimate.workspace + static_cast<std::uint64_t>(logits_at_once) * sizeof(float)},
                 0, exact ? "Without --exact it takes less." : "");
  const auto model = load_model(file, exact, pool, interrupt);

  std::ofstream out;
  if (!to_stdout) {
    out.open(platform::path_from_utf8(out_name), std::ios::binary | std::ios::trunc);
    if (!out) throw Failure(ExitCode::failure, "The file `" + out_name + "` cannot be written: check its folder.");
  }
  const auto write = [&](std::span<const float> rows) {
    const std::string_view bytes(reinterpret_cast<const char*>(rows.data()), rows.size_bytes());
    if (to_stdout) return print(bytes);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  };
  architectures::Sequence sequence(*model, count);
  const auto workspace = model->make_workspace(rows_at_once);
  std::vector<float> rows(static_cast<std::size_t>(logits_at_once));
  ProgressBar bar;
  for (std::int64_t done = 0; done < count; done += kRowsAtOnce) {
    if (interrupt.asked()) throw Error(ErrorKind::cancelled, "Cancelled; the file is not complete.");
    const auto piece = std::span(tokens)
                           .subspan(static_cast<std::size_t>(done))
                           .first(static_cast<std::size_t>(std::min(count - done, kRowsAtOnce)));
    sequence.feed(piece, architectures::Sequence::Logits::all, rows.data(), *workspace, pool, nullptr, count);
    const auto computed = std::span(rows).first(piece.size() * static_cast<std::size_t>(shape.vocabulary));
    with_finite_weights(file, [&] { generation::require_finite(computed); });
    write(computed);
    bar.fraction("computing", static_cast<double>(done) / static_cast<double>(count));
  }
  if (to_stdout) {
    flush();
    return ExitCode::success;
  }
  out.close();
  if (!out) throw Failure(ExitCode::failure, "Writing `" + out_name + "` failed: is the disk full?");
  return ExitCode::success;
}

}  // namespace

const Verb kLogits = {kText.verb, kText.summary, logits};

}  // namespace glmhost::cli
