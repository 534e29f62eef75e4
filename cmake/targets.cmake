# One CMake target per folder, named after it: inference/tokenizer is glmhost::tokenizer.
#
#   glmhost_library(NAME [folder-target ...])     the library made of every *.cpp in this folder
#   glmhost_unit_test(NAME library ...)           the doctest program made of every *.cpp in this test folder
#
# A file whose name ends in _avx2.cpp, _avxvnni.cpp, _avx512.cpp or _amx.cpp is compiled for that instruction set and
# is only ever entered after a CPUID check.

add_library(glmhost_options INTERFACE)
target_include_directories(glmhost_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(glmhost_options INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(glmhost_options INTERFACE -Wno-restrict)  # false alarms on "text" + std::to_string(...)
endif()
target_compile_definitions(glmhost_options INTERFACE GLMHOST_VERSION="${PROJECT_VERSION}")
if(WIN32)
  target_compile_definitions(glmhost_options INTERFACE _WIN32_WINNT=0x0A00 WIN32_LEAN_AND_MEAN NOMINMAX UNICODE _UNICODE)
endif()
if(GLMHOST_SANITIZE)
  target_compile_options(glmhost_options INTERFACE -fsanitize=${GLMHOST_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(glmhost_options INTERFACE -fsanitize=${GLMHOST_SANITIZE})
endif()
if(GLMHOST_FUZZ)
  target_compile_options(glmhost_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
find_package(Threads REQUIRED)

set(GLMHOST_FLAGS_avx2 -mavx2 -mfma -mf16c -mbmi2)
set(GLMHOST_FLAGS_avxvnni ${GLMHOST_FLAGS_avx2} -mavxvnni)
set(GLMHOST_FLAGS_avx512 ${GLMHOST_FLAGS_avx2} -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512vnni -mavx512vbmi)
set(GLMHOST_FLAGS_amx ${GLMHOST_FLAGS_avx512} -mavx512bf16 -mamx-tile -mamx-bf16)

function(glmhost_set_instruction_sets)
  foreach(source IN LISTS ARGN)
    if(source MATCHES "_(avx2|avxvnni|avx512|amx)\\.cpp$")
      set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${GLMHOST_FLAGS_${CMAKE_MATCH_1}}" SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
endfunction()

# The headers that most files include, compiled once for the libraries and once for the tests (GLMHOST_PRECOMPILED): a
# sanitizer build takes a third less. Files include what they use all the same; the other builds, which go without, show
# what is missing. (GCC gains little, and takes the standard library's own code for ours in its warnings.)
set(GLMHOST_PRECOMPILED_HEADERS
  <algorithm> <array> <atomic> <charconv> <chrono> <cmath> <condition_variable> <cstdint> <cstring> <deque> <filesystem>
  <fstream> <functional> <map> <memory> <mutex> <numeric> <optional> <set> <span> <sstream> <stdexcept> <string>
  <string_view> <thread> <unordered_map> <utility> <variant> <vector> <nlohmann/json.hpp>)

# precompiled_headers(NAME HEADER ...): the target from which others reuse them.
function(glmhost_precompiled_headers name)
  file(WRITE ${PROJECT_BINARY_DIR}/${name}.cpp "")
  add_library(${name} OBJECT ${PROJECT_BINARY_DIR}/${name}.cpp)
  target_link_libraries(${name} PRIVATE glmhost_options nlohmann_json::nlohmann_json Threads::Threads)
  target_precompile_headers(${name} PRIVATE ${ARGN})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # ccache knows a precompiled header by its content.
    target_compile_options(${name} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
endfunction()

function(glmhost_library name)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  if(WIN32)
    list(FILTER sources EXCLUDE REGEX "_posix\\.cpp$")
  else()
    list(FILTER sources EXCLUDE REGEX "_windows\\.cpp$")
  endif()
  if(sources)
    add_library(glmhost_${name} STATIC ${sources})
    glmhost_set_instruction_sets(${sources})
    target_link_libraries(glmhost_${name} PUBLIC glmhost_options Threads::Threads ${ARGN})
    if(TARGET glmhost_precompiled AND NOT name STREQUAL "kernels")  # which have compiler options of their own
      target_precompile_headers(glmhost_${name} REUSE_FROM glmhost_precompiled)
    endif()
  else()
    add_library(glmhost_${name} INTERFACE)
    target_link_libraries(glmhost_${name} INTERFACE glmhost_options ${ARGN})
  endif()
  add_library(glmhost::${name} ALIAS glmhost_${name})
endfunction()

function(glmhost_unit_test name)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(${name}_test ${sources} ${PROJECT_SOURCE_DIR}/tests/unit/main.cpp)
  target_link_libraries(${name}_test PRIVATE ${ARGN} glmhost_test_support)
  target_precompile_headers(${name}_test REUSE_FROM glmhost_test_precompiled)
  # doctest's implementation stands in this file alone.
  set_source_files_properties(${PROJECT_SOURCE_DIR}/tests/unit/main.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  add_test(NAME ${name} COMMAND ${name}_test)
endfunction()
