#include <windows.h>

#include "inference/kernels/tile_permission.h"

namespace glmhost::kernels {

bool request_tile_permission() {
  // Windows 11 and Server 2022 have the call; it is looked up so that the program starts on older systems too.
  using Enable = BOOL(WINAPI*)(DWORD64);
  constexpr DWORD64 kTileData = DWORD64{1} << 18;
  const HMODULE kernel = GetModuleHandleW(L"kernel32.dll");
  if (kernel == nullptr) return false;
  const FARPROC found = GetProcAddress(kernel, "EnableProcessOptionalXStateFeatures");
  return found != nullptr && reinterpret_cast<Enable>(reinterpret_cast<void*>(found))(kTileData) != 0;
}

}  // namespace glmhost::kernels
