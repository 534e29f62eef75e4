#include <array>
#include <filesystem>
#include <optional>
#include <system_error>

#include "host/cli/command.h"
#include "host/cli/console.h"
#include "host/cli/verbs.h"
#include "host/model_store/child_process.h"
#include "host/platform/paths.h"
#include "host/platform/process.h"

namespace glmhost::cli {
namespace {

namespace fs = std::filesystem;

constexpr CommandText kText = {
    .verb = "editor",
    .words = "install|settings",
    .summary = "Put code completion into an editor",
    .details =
        "`install` puts the extension into VS Code, VSCodium and code-server, whichever are on the PATH. `settings` "
        "prints what neovim and Emacs need. The extension is the newest glm-host-*.vsix beside glm, in "
        "~/.local/share/glm-host/editor or in a build's folder (installer/vscode/build.sh makes it).",
    .examples =
        "  glm editor install\n"
        "  glm editor install --editor codium --vsix ~/Downloads/glm-host-0.1.0-linux-x64.vsix\n"
        "  glm editor settings",
};

constexpr std::array<std::string_view, 4> kEditors = {"code", "codium", "code-server", "code-insiders"};

std::optional<fs::path> newest_package(const fs::path& folder) {
  std::optional<fs::path> newest;
  std::error_code failure;
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end; entry.increment(failure)) {
    const std::string name = platform::to_utf8(entry->path().filename());
    if (!name.starts_with("glm-host-") || !name.ends_with(".vsix")) continue;
    std::error_code unknown;
    if (!newest || fs::last_write_time(entry->path(), unknown) > fs::last_write_time(*newest, unknown)) {
      newest = entry->path();
    }
  }
  return newest;
}

fs::path find_package(const std::string& named) {
  if (!named.empty()) {
    const fs::path file = fs::absolute(platform::path_from_utf8(named));
    if (!fs::is_regular_file(file)) throw Failure(ExitCode::usage, "There is no file " + named + " (--vsix).");
    return file;
  }
  const fs::path beside = platform::executable_path().parent_path();
  for (const fs::path& folder :
       {beside, platform::data_folder() / "editor", beside.parent_path().parent_path() / "vscode"}) {
    if (const auto found = newest_package(folder)) return *found;
  }
  throw Failure(ExitCode::failure, "There is no glm-host-*.vsix beside glm or in " +
                                       platform::to_utf8(platform::data_folder() / "editor") +
                                       ". Build it with installer/vscode/build.sh, or name one with --vsix.");
}

ExitCode install(const std::string& editor, const std::string& named) {
  const std::string package = platform::to_utf8(find_package(named));
  bool found = false;
  for (const std::string_view known : kEditors) {
    if (!editor.empty() && known != editor) continue;
    model_store::ProcessRequest request;
    request.arguments = {std::string(known), "--install-extension", package, "--force"};
    const auto result = model_store::run_process(request);
    if (!result) continue;
    found = true;
    if (result->exit_code != 0) {
      throw Failure(ExitCode::failure, std::string(known) + " refused the extension:\n" + result->output);
    }
    print("Installed into " + std::string(known) + ": " + package + "\n");
  }
  if (!found) {
    throw Failure(ExitCode::failure,
                  (editor.empty() ? "None of code, codium, code-server and code-insiders is" : editor + " is not") +
                      " on the PATH. In VS Code, \"Shell Command: Install 'code' command\" puts it there; or install " +
                      package + " from the menu of the Extensions view.");
  }
  return ExitCode::success;
}

void print_settings() {
  const std::string server = platform::to_utf8(platform::executable_path().parent_path() / "glm-language-server");
  print(
      "-- neovim (init.lua); ghost text from 0.12 on, else in the list of completions\n"
      "vim.api.nvim_create_autocmd('FileType', {\n"
      "  callback = function(event)\n"
      "    vim.lsp.start({ name = 'glm', cmd = { '" +
      server +
      "' }, root_dir = vim.fn.getcwd() },\n"
      "      { bufnr = event.buf })\n"
      "  end,\n"
      "})\n\n"
      ";; Emacs (init.el), with eglot\n"
      "(with-eval-after-load 'eglot\n"
      "  (add-to-list 'eglot-server-programs '(prog-mode . (\"" +
      server +
      "\"))))\n"
      "(add-hook 'prog-mode-hook 'eglot-ensure)\n");
}

ExitCode editor(VerbArguments arguments) {
  Command command(kText);
  std::string package;
  std::string into;
  command.text("--vsix", package, "FILE", "The extension's package");
  command.choice("--editor", into, {"code", "codium", "code-server", "code-insiders"}, "Only into this editor");
  command.parse(arguments);
  const std::vector<std::string>& words = command.words();
  if (words.size() == 1 && words[0] == "install") {
    const ExitCode code = install(into, package);
    print("For neovim and Emacs: glm editor settings\n");
    return code;
  }
  if (words.size() == 1 && words[0] == "settings") {
    print_settings();
    return ExitCode::success;
  }
  throw Failure(ExitCode::usage, "Say `glm editor install` or `glm editor settings`; `glm editor --help` tells more.");
}

}  // namespace

const Verb kEditor = {kText.verb, kText.summary, editor};

}  // namespace glmhost::cli
