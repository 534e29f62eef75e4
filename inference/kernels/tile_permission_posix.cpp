#include <sys/syscall.h>
#include <unistd.h>

#include "inference/kernels/tile_permission.h"

namespace glmhost::kernels {

bool request_tile_permission() {
  // Linux: arch/x86/include/uapi/asm/prctl.h; feature 18 is the tiles' data. Kernels before 5.16 refuse the call.
  constexpr long kRequestPermission = 0x1023;
  constexpr long kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

}  // namespace glmhost::kernels
