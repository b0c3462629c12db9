# Language, warnings, sanitisers, linker, run paths. Baseline x86-64 unless a folder sets flags on its own files.

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(COLLAGE_SANITIZE "" CACHE STRING "Sanitisers for -fsanitize=, for example address,undefined")

set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
# The build tree is laid out as the installed one, so one run path serves both; parts of the prefix are added to it.
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

# What is built for others names no folder of this machine, and brings the engines along (cmake/engines.cmake).
option(COLLAGE_RELEASE "Build what is released: the same bytes in every folder, with its engines" OFF)
if(COLLAGE_RELEASE)
  set(CMAKE_INSTALL_RPATH_USE_LINK_PATH OFF)
  add_compile_options(
    "-ffile-prefix-map=${PROJECT_BINARY_DIR}=build" "-ffile-prefix-map=${PROJECT_SOURCE_DIR}=."
    "-ffile-prefix-map=${COLLAGE_PREFIX}=parts")
endif()

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Without this sloppiness a source that uses precompiled headers is compiled every time. CCACHE_DEPEND: what a source
  # includes is learnt from its compilation, where ccache would preprocess it first.
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_DEPEND=1 "${CCACHE}")
  if(COLLAGE_RELEASE)
    # A folder that a user's configuration makes paths relative to would hide them from -ffile-prefix-map.
    list(INSERT CMAKE_CXX_COMPILER_LAUNCHER 1 CCACHE_BASEDIR=)
  endif()
endif()

# The flags of every target of ours; third-party headers are SYSTEM and stay quiet.
add_library(collage_flags INTERFACE)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang") # for fuzzing alone: what is warned of, GCC says
  target_compile_options(collage_flags INTERFACE -w)
else()
  target_compile_options(collage_flags INTERFACE
  -Werror -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wextra-semi -Wvla -Wformat=2
  -Wduplicated-cond -Wlogical-op -Wmissing-declarations
  -Wno-missing-field-initializers # designated initialisers leave the defaults on purpose
  -Wno-restrict -Wno-maybe-uninitialized # false for std::string and std::optional in GCC 12
  # These depend on what the optimiser sees, and GCC 12 is often wrong: they warn without stopping the build.
  -Wno-error=array-bounds -Wno-error=stringop-overflow -Wno-error=stringop-overread
  -Wno-error=dangling-pointer -Wno-error=free-nonheap-object -Wno-error=null-dereference)
  target_link_options(collage_flags INTERFACE -Wl,--no-undefined) # Clang's sanitisers lie in programs
endif()
target_include_directories(collage_flags INTERFACE "${PROJECT_SOURCE_DIR}/src")
# GCC looks for memory to free from so many kilobytes on: a tenth of its time, for sources that take 2 GB at most.
cmake_host_system_information(RESULT COLLAGE_PROCESSORS QUERY NUMBER_OF_LOGICAL_CORES)
cmake_host_system_information(RESULT memory_mb QUERY TOTAL_PHYSICAL_MEMORY)
math(EXPR COLLAGE_MEMORY_EACH_MB "${memory_mb} / ${COLLAGE_PROCESSORS}")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND COLLAGE_MEMORY_EACH_MB GREATER 4000)
  target_compile_options(collage_flags INTERFACE --param=ggc-min-heapsize=4000000)
endif()

find_program(MOLD mold)
if(MOLD)
  target_link_options(collage_flags INTERFACE -fuse-ld=mold)
endif()
if(COLLAGE_SANITIZE)
  add_compile_options(-fsanitize=${COLLAGE_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${COLLAGE_SANITIZE})
  if(COLLAGE_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
endif()
