#include "vscode-bridge/server/session/neighbours.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "host/platform/paths.h"
#include "vscode-bridge/server/completion/context_ring.h"
#include "vscode-bridge/server/lsp/message.h"
#include "vscode-bridge/server/workspace/uri.h"

namespace glmhost::session {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 12;
constexpr std::size_t kMostLooked = 400;
constexpr std::uintmax_t kMostBytes = 256u << 10;
constexpr std::size_t kDeclarationBytes = 900;

}  // namespace

std::vector<completion::Piece> read_neighbours(const fs::path& file, const std::string& text,
                                               workspace::Exclusion& exclusion) {
  std::vector<completion::Piece> pieces;
  try {
    std::error_code failure;
    std::vector<std::pair<bool, fs::path>> found;
    std::size_t looked = 0;
    for (fs::directory_iterator entry(file.parent_path(), failure), end; !failure && entry != end;
         entry.increment(failure)) {
      if (++looked > kMostLooked) break;
      const fs::path& path = entry->path();
      if (path == file || path.extension() != file.extension() || !entry->is_regular_file(failure)) continue;
      if (entry->file_size(failure) > kMostBytes || exclusion.reason(path)) continue;
      const std::string stem = platform::to_utf8(path.stem());
      found.emplace_back(stem.size() > 2 && text.find(stem) != std::string::npos, path);
    }
    // In an order that is the same the next time.
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    found.resize(std::min(found.size(), kMostFiles));
    for (const auto& [imported, path] : found) {
      std::ifstream in(path, std::ios::binary);
      const std::string content{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
      if (content.find('\0') != std::string::npos) continue;
      std::string declarations = lsp::valid_text(completion::declarations_of(content, kDeclarationBytes));
      if (declarations.empty()) continue;
      // One block number that no place of an open document has.
      pieces.push_back({workspace::uri_of(path), lsp::valid_text(platform::to_utf8(path.filename())), ~std::size_t{0},
                        std::move(declarations)});
    }
  } catch (const std::exception&) {
    // A folder that went away, names that are no text: then there is nothing to say about them.
  }
  return pieces;
}

NeighbourReader::NeighbourReader(std::shared_ptr<EventQueue> queue) : queue_(std::move(queue)) {
  thread_ = std::thread([this] { run(); });
}

NeighbourReader::~NeighbourReader() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void NeighbourReader::configure(std::vector<fs::path> roots, std::vector<std::string> patterns) {
  const std::lock_guard lock(mutex_);
  exclusion_.set_roots(std::move(roots));
  exclusion_.set_patterns(std::move(patterns));
}

void NeighbourReader::read(fs::path file, std::string text) {
  {
    const std::lock_guard lock(mutex_);
    if (jobs_.size() >= 16) jobs_.pop_front();
    jobs_.emplace_back(std::move(file), std::move(text));
  }
  wake_.notify_all();
}

void NeighbourReader::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (jobs_.empty()) {
      wake_.wait(lock);
      continue;
    }
    const auto [file, text] = std::move(jobs_.front());
    jobs_.pop_front();
    workspace::Exclusion exclusion = exclusion_;
    lock.unlock();
    std::vector<completion::Piece> pieces = read_neighbours(file, text, exclusion);
    if (!pieces.empty()) queue_->post(NeighboursRead{std::move(pieces)});
    lock.lock();
  }
}

}  // namespace glmhost::session
