# The headers of libraries that nearly every test includes are parsed once. A test still includes what it uses: presets
# with sanitisers are built without this, so that a missing include is found.
option(COLLAGE_PRECOMPILED "Parse the headers of libraries once for all tests" ON)
if(NOT COLLAGE_PRECOMPILED)
  return()
endif()

# Programs are compiled with -fPIE; an object library has to be told.
add_library(collage_precompiled OBJECT "${PROJECT_SOURCE_DIR}/cmake/precompiled.cpp")
set_target_properties(collage_precompiled PROPERTIES POSITION_INDEPENDENT_CODE OFF)
target_compile_options(collage_precompiled PRIVATE -fPIE ${COLLAGE_TEST_FLAGS})
target_link_libraries(collage_precompiled PRIVATE collage_flags fmt::fmt GTest::gmock)
target_precompile_headers(collage_precompiled PRIVATE
  <algorithm> <chrono> <expected> <filesystem> <functional> <map> <memory> <optional> <span> <string> <unordered_map>
  <variant> <vector> <fmt/format.h> <gmock/gmock.h> <gtest/gtest.h> "${PROJECT_SOURCE_DIR}/src/base/json_numbers.h")
