#include <windows.h>

#include <stdexcept>

#include "host/model_store/files.h"
#include "host/platform/paths.h"

namespace glmhost::model_store {

void flush_to_disk(const std::filesystem::path& file) {
  const HANDLE handle = CreateFileW(file.c_str(), GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ, nullptr, OPEN_EXISTING,
                                    FILE_ATTRIBUTE_NORMAL, nullptr);
  const bool flushed = handle != INVALID_HANDLE_VALUE && FlushFileBuffers(handle) != 0;
  if (handle != INVALID_HANDLE_VALUE) CloseHandle(handle);
  if (!flushed) throw std::runtime_error("Writing " + platform::to_utf8(file) + " to the disk failed.");
}

// NTFS writes the folder's change in its journal before the rename returns.
void flush_folder(const std::filesystem::path&) {}

}  // namespace glmhost::model_store
