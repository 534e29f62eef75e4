// Declarations of the files beside one, for the model to know what it may use: imported ones first. Reads files, so it
// has a thread of its own.
#pragma once

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "vscode-bridge/server/session/events.h"
#include "vscode-bridge/server/workspace/exclusion.h"

namespace glmhost::session {

// The files in FILE's folder with its extension, those whose names stand in `text` first; at most 12, each not larger
// than 256 KiB, none that is excluded. Never throws: what cannot be read is passed over.
std::vector<completion::Piece> read_neighbours(const std::filesystem::path& file, const std::string& text,
                                               workspace::Exclusion& exclusion);

class NeighbourReader {
 public:
  explicit NeighbourReader(std::shared_ptr<EventQueue> queue);
  ~NeighbourReader();
  void configure(std::vector<std::filesystem::path> roots, std::vector<std::string> patterns);
  void read(std::filesystem::path file, std::string text);

 private:
  void run();
  std::shared_ptr<EventQueue> queue_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  workspace::Exclusion exclusion_;
  std::deque<std::pair<std::filesystem::path, std::string>> jobs_;
  std::thread thread_;
};

}  // namespace glmhost::session
