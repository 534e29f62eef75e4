// The system's leave to use AMX tiles, whose state is 8 kB for each thread.
#pragma once

namespace glmhost::kernels {

// For the whole process, its later threads included. False where the system does not grant it; without it the first
// tile instruction ends the process.
bool request_tile_permission();

}  // namespace glmhost::kernels
