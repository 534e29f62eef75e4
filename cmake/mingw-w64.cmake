# Cross build for 64-bit Windows. WINDOWS_SYSROOT (a variable, else the environment) is the folder where
# installer/windows/sysroot.sh put libzmq, SQLite and the header-only libraries built for this target.
if(NOT WINDOWS_SYSROOT)
  set(WINDOWS_SYSROOT "$ENV{WINDOWS_SYSROOT}")
  if(NOT WINDOWS_SYSROOT)
    set(WINDOWS_SYSROOT ${CMAKE_CURRENT_LIST_DIR}/../build/windows-sysroot)
  endif()
  get_filename_component(WINDOWS_SYSROOT "${WINDOWS_SYSROOT}" ABSOLUTE)
  # Kept, because a build tool that configures again later has another environment.
  set(WINDOWS_SYSROOT "${WINDOWS_SYSROOT}" CACHE PATH "Libraries built for Windows")
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES WINDOWS_SYSROOT)

set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_SYSTEM_VERSION 10.0)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
set(CMAKE_FIND_ROOT_PATH /usr/x86_64-w64-mingw32 ${WINDOWS_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# As /usr/include is on Linux: what lies there is found without being named.
set(CMAKE_C_STANDARD_INCLUDE_DIRECTORIES ${WINDOWS_SYSROOT}/include)
set(CMAKE_CXX_STANDARD_INCLUDE_DIRECTORIES ${WINDOWS_SYSROOT}/include)

# One program file that needs nothing but Windows.
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(ZLIB_USE_STATIC_LIBS ON)
