# What every target of the project shares.
include(GNUInstallDirs)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

# No contraction: a fused multiply-add stands only where the source says fma (docs/convolve.md).
add_library(runner_options INTERFACE)
target_include_directories(runner_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(runner_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -Wconversion -Wno-psabi -ffp-contract=off>)

# Each kernel for one vector target in place of five, optimisation where it matters, and one precompiled
# header: 9 minutes of a core in place of 16, on a busy machine. The program runs on processors like this one only, and a
# build for development finds missing includes and has all targets.
if(RUNNER_QUICK_BUILD)
  # GCC 12 warns wrongly at -O1.
  target_compile_options(runner_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-march=native;-Wno-array-bounds;-Wno-maybe-uninitialized;-Wno-stringop-overflow;-Wno-stringop-overread>)
  target_compile_definitions(runner_options INTERFACE HWY_COMPILE_ONLY_STATIC)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/headers.cpp CONTENT "")
  add_library(runner_headers OBJECT ${PROJECT_BINARY_DIR}/headers.cpp)
  target_link_libraries(runner_headers PRIVATE runner_options)
  target_compile_options(runner_headers PRIVATE -O1)
  target_precompile_headers(runner_headers PRIVATE
    <algorithm> <array> <charconv> <chrono> <cmath> <filesystem> <functional> <limits> <map> <memory>
    <mutex> <optional> <set> <span> <sstream> <string> <string_view> <system_error> <thread> <utility>
    <variant> <vector> <fmt/core.h>)
endif()

set(runner_targets $<$<BOOL:${RUNNER_LEFT_OUT_TARGETS}>:HWY_BROKEN_TARGETS=${RUNNER_LEFT_OUT_TARGETS}>)

# Builds that join sources are to take little time. GCC collects its garbage seldom there, which is a
# twelfth of it, and optimises rooms of text and plans, whose code meets no elements, by -O1, which is a
# quarter of theirs; GCC 12 warns wrongly then.
add_library(runner_text_options INTERFACE)
if(RUNNER_JOINED_SOURCES AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(runner_options INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX>:SHELL:--param ggc-min-heapsize=400000>")
  target_compile_options(runner_text_options INTERFACE
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:RelWithDebInfo>>:-O1;-Wno-array-bounds;-Wno-maybe-uninitialized;-Wno-stringop-overflow;-Wno-stringop-overread>)
endif()

if(RUNNER_COVERAGE)
  add_library(coverage_exit STATIC ${PROJECT_SOURCE_DIR}/tests/coverage/exit.cpp)
  target_link_libraries(runner_options INTERFACE coverage_exit)
  # --undefined: the library may stand before the one that calls _exit().
  target_link_options(runner_options INTERFACE --coverage -Wl,--wrap=_exit -Wl,--undefined=__wrap__exit)
endif()

# runner_room(SOURCES ... [CUDA ...] [NO_CUDA ...] USES rooms... [PUBLIC_FOREIGN ...] [FOREIGN ...]):
# the folder's library, room_FOLDER with '_' for '/': static, or shared with BUILD_SHARED_LIBS.
# SOURCES are compiled always, CUDA only with CUDA, NO_CUDA only without. With RUNNER_JOINED_SOURCES,
# SOURCES are compiled as one file, so that a private name stands once in a folder. USES names the rooms below that it may include from:
# these lines are the table of levels, and tests/tree/rooms_test.cpp holds the includes to them.
# FOREIGN are libraries of others; PUBLIC_FOREIGN those that the room's headers include.
function(runner_room)
  cmake_parse_arguments(PARSE_ARGV 0 ROOM "" "" "SOURCES;CUDA;NO_CUDA;USES;PUBLIC_FOREIGN;FOREIGN")
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  string(REPLACE "/" "_" name ${folder})
  if(RUNNER_HAS_CUDA)
    list(APPEND ROOM_SOURCES ${ROOM_CUDA})
  else()
    list(APPEND ROOM_SOURCES ${ROOM_NO_CUDA})
  endif()
  add_library(room_${name} ${ROOM_SOURCES})
  set_property(GLOBAL APPEND PROPERTY runner_rooms room_${name})
  list(TRANSFORM ROOM_USES REPLACE "/" "_")
  list(TRANSFORM ROOM_USES PREPEND room_)
  target_link_libraries(room_${name}
    PUBLIC runner_options Threads::Threads ${ROOM_USES} ${ROOM_PUBLIC_FOREIGN}
    PRIVATE ${ROOM_FOREIGN})
  if(RUNNER_JOINED_SOURCES AND NOT folder MATCHES "^kernels")
    # A room of several folders, which is jobs, has a joined file for each.
    set_target_properties(room_${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    set_source_files_properties(${ROOM_SOURCES} PROPERTIES UNITY_GROUP ${name})
    if(folder MATCHES "^io/(cost|inspect|metadata)$" OR
       NOT folder MATCHES "^(base|io|jobs|runner/(engines|memory|verify)|views/pictures)(/|$)")
      target_link_libraries(room_${name} PRIVATE runner_text_options)
    endif()
  endif()
  if(RUNNER_QUICK_BUILD AND NOT folder MATCHES "^kernels/")
    target_compile_options(room_${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-O1>)
    target_precompile_headers(room_${name} REUSE_FROM runner_headers)
  endif()
  if(folder MATCHES "^kernels/")
    target_compile_definitions(room_${name} PRIVATE ${runner_targets})
    # Vectors without any optimisation take minutes where they take seconds.
    target_compile_options(room_${name} PRIVATE $<$<AND:$<CONFIG:Debug>,$<COMPILE_LANGUAGE:CXX>>:-O1>)
  elseif(RUNNER_COVERAGE)
    # Stages count side by side. Kernels are compared with slow references instead.
    target_compile_options(room_${name} PRIVATE --coverage -fprofile-update=prefer-atomic)
  endif()
endfunction()

# runner_kind(SOURCES ... USES rooms...): the folder's part of room_jobs.
function(runner_kind)
  cmake_parse_arguments(PARSE_ARGV 0 KIND "" "" "SOURCES;USES")
  list(TRANSFORM KIND_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  target_sources(room_jobs PRIVATE ${KIND_SOURCES})
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME kind)
  set_source_files_properties(${KIND_SOURCES} TARGET_DIRECTORY room_jobs PROPERTIES UNITY_GROUP ${kind})
  list(TRANSFORM KIND_USES REPLACE "/" "_")
  list(TRANSFORM KIND_USES PREPEND room_)
  target_link_libraries(room_jobs PUBLIC ${KIND_USES})
endfunction()

# runner_headers_of(TARGET rooms...): TARGET may include from these rooms, and gets their code elsewhere.
function(runner_headers_of target)
  target_link_libraries(${target} PRIVATE runner_options)
  foreach(room IN LISTS ARGN)
    target_include_directories(${target} PRIVATE $<TARGET_PROPERTY:${room},INTERFACE_INCLUDE_DIRECTORIES>)
    target_compile_definitions(${target} PRIVATE $<TARGET_PROPERTY:${room},INTERFACE_COMPILE_DEFINITIONS>)
  endforeach()
endfunction()
