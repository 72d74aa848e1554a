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

# runner_library(NAME SOURCES...): a folder's static library, named runner_NAME.
function(runner_library name)
  add_library(runner_${name} STATIC ${ARGN})
  target_link_libraries(runner_${name} PUBLIC runner_options Threads::Threads)
endfunction()
