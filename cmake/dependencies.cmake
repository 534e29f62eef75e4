# Every library comes from Debian's packages (installer/setup.sh lists them); the Windows cross build finds the same
# names below WINDOWS_SYSROOT. Header-only ones are plain INTERFACE targets so that a folder says what it uses.

find_package(nlohmann_json 3.11 REQUIRED)

find_path(CPPZMQ_INCLUDE_DIR zmq.hpp REQUIRED)
find_path(ZMQ_INCLUDE_DIR zmq.h REQUIRED)
find_library(ZMQ_LIBRARY zmq REQUIRED)
add_library(glmhost_zmq INTERFACE)
target_include_directories(glmhost_zmq SYSTEM INTERFACE ${CPPZMQ_INCLUDE_DIR} ${ZMQ_INCLUDE_DIR})
target_link_libraries(glmhost_zmq INTERFACE ${ZMQ_LIBRARY})
if(WIN32)
  target_compile_definitions(glmhost_zmq INTERFACE ZMQ_STATIC)
  target_link_libraries(glmhost_zmq INTERFACE ws2_32 iphlpapi rpcrt4 bcrypt)
endif()

find_path(SQLITE_INCLUDE_DIR sqlite3.h REQUIRED)
find_library(SQLITE_LIBRARY sqlite3 REQUIRED)
add_library(glmhost_sqlite INTERFACE)
target_include_directories(glmhost_sqlite SYSTEM INTERFACE ${SQLITE_INCLUDE_DIR})
target_link_libraries(glmhost_sqlite INTERFACE ${SQLITE_LIBRARY})

find_library(XXHASH_LIBRARY xxhash REQUIRED)
find_library(UTF8PROC_LIBRARY utf8proc REQUIRED)
