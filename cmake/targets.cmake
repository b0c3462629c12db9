# One function per kind of target. All of them take lists; a folder's sources are written out, never globbed.

option(COLLAGE_UNITY "Compile several sources of a library at once: their headers are parsed once" ON)
# A source in a unit of 32 takes two thirds of the time of one in a unit of 8, and 2 GB; with many processors that many
# units would leave some of them idle. What is released is the same wherever it is built.
if(COLLAGE_RELEASE OR (COLLAGE_PROCESSORS LESS_EQUAL 4 AND COLLAGE_MEMORY_EACH_MB GREATER 4000))
  set(unit 32)
else()
  set(unit 8)
endif()
set(COLLAGE_UNIT ${unit} CACHE STRING "Most sources of a library that are compiled at once; few make a change quick to build")

# collage_unity(TARGET [MOST]): its sources are compiled COLLAGE_UNIT at a time, or MOST if that is less. A source whose
# local names are those of its neighbours (one of a family with the same local functions) is set
# SKIP_UNITY_BUILD_INCLUSION. Presets with sanitisers compile every source on its own, so that a missing include is found.
function(collage_unity target)
  set(most ${COLLAGE_UNIT})
  if(ARGC GREATER 1 AND ARGV1 LESS most)
    set(most ${ARGV1})
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${COLLAGE_UNITY} UNITY_BUILD_BATCH_SIZE ${most})
endfunction()

# collage_add_if_present(FOLDER): add_subdirectory when the folder has a CMakeLists.txt; a later one is noticed.
function(collage_add_if_present folder)
  file(GLOB found CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/CMakeLists.txt")
  if(found)
    add_subdirectory(${folder})
  endif()
endfunction()

# collage_library(FOLDER SOURCES ... [DEPENDS earlier folders] [LIBRARIES private] [PUBLIC_LIBRARIES seen in headers])
# makes lib/libcollage_FOLDER.so and collage::FOLDER; a '/' in the name of a folder is a '_' there.
function(collage_library folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS;LIBRARIES;PUBLIC_LIBRARIES")
  collage_check_arguments(${folder})
  list(FIND COLLAGE_FOLDERS ${folder} rank)
  if(rank EQUAL -1)
    message(FATAL_ERROR "collage_library: unknown folder ${folder}")
  endif()
  list(SUBLIST COLLAGE_FOLDERS 0 ${rank} earlier)
  if(folder STREQUAL "passes")
    set(earlier ${COLLAGE_BACKEND_SEES})
  endif()
  collage_check_depends(${folder} "${arg_DEPENDS}" "${earlier}")

  string(REPLACE "/" "_" name ${folder})
  add_library(collage_${name} SHARED ${arg_SOURCES})
  add_library(collage::${name} ALIAS collage_${name})
  collage_unity(collage_${name})
  collage_folder_targets(folders "${arg_DEPENDS}")
  target_link_libraries(collage_${name}
    PUBLIC ${folders} ${arg_PUBLIC_LIBRARIES} fmt::fmt
    PRIVATE collage_flags ${arg_LIBRARIES})
  set_target_properties(collage_${name} PROPERTIES INSTALL_RPATH "$ORIGIN" EXPORT_NAME ${name})
  if(folder IN_LIST COLLAGE_BACKEND_SEES OR folder IN_LIST COLLAGE_RUN_FOLDERS OR folder STREQUAL "api/c_tune")
    collage_install_library(${folder})
  else()
    collage_component(component ${folder})
    install(TARGETS collage_${name} LIBRARY DESTINATION lib COMPONENT ${component})
  endif()
endfunction()

# collage_c_interface(FOLDER NAME): its library becomes libNAME.so for programs in C. It shows what exports.txt lists and
# nothing else, so that programs depend on no symbol by accident.
function(collage_c_interface folder name)
  string(REPLACE "/" "_" target collage_${folder})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS exports.txt)
  file(STRINGS exports.txt exports)
  list(JOIN exports ";\n    " exports)
  file(CONFIGURE OUTPUT exports.map CONTENT "{\n  global:\n    @exports@;\n  local:\n    *;\n};\n" @ONLY)
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${name}
    VERSION ${PROJECT_VERSION}
    SOVERSION 0
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    LINK_DEPENDS "${CMAKE_CURRENT_BINARY_DIR}/exports.map"
    # Who links it sees C, and none of the libraries behind it.
    INTERFACE_LINK_LIBRARIES "")
  target_link_options(${target} PRIVATE "-Wl,--version-script=${CMAKE_CURRENT_BINARY_DIR}/exports.map")
endfunction()

# collage_program(NAME SOURCES ... DEPENDS folders [LIBRARIES ...] [FOLDER folder]) makes FOLDER/NAME, bin/NAME if it is
# not said.
function(collage_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FOLDER" "SOURCES;DEPENDS;LIBRARIES")
  collage_check_arguments(${name})
  if(NOT arg_FOLDER)
    set(arg_FOLDER bin)
  endif()
  collage_executable(${name} "${arg_SOURCES}" "${arg_DEPENDS}" "${arg_LIBRARIES}" ${arg_FOLDER})
  collage_unity(${name})
  file(RELATIVE_PATH lib "/${arg_FOLDER}" /lib)
  set_target_properties(${name} PROPERTIES INSTALL_RPATH "$ORIGIN/${lib}")
  install(TARGETS ${name} RUNTIME DESTINATION ${arg_FOLDER} COMPONENT program)
endfunction()

# collage_backend_option(NAME) declares COLLAGE_BACKEND_<NAME>; AUTO builds it when its libraries are there, ON insists.
# A release and a wheel are the same whatever ./dev setup NAME has fetched on the machine that builds them.
macro(collage_backend_option name)
  string(TOUPPER ${name} COLLAGE_UPPER)
  set(default_state AUTO)
  if("${name}" IN_LIST COLLAGE_OPTIONAL_BACKENDS AND (COLLAGE_RELEASE OR SKBUILD))
    set(default_state OFF)
  endif()
  set(COLLAGE_BACKEND_${COLLAGE_UPPER} ${default_state} CACHE STRING "Backend ${name}: AUTO, ON or OFF")
  set_property(CACHE COLLAGE_BACKEND_${COLLAGE_UPPER} PROPERTY STRINGS AUTO ON OFF)
  if(NOT COLLAGE_BACKEND_${COLLAGE_UPPER} MATCHES "^(AUTO|ON|OFF)$")
    message(FATAL_ERROR
      "COLLAGE_BACKEND_${COLLAGE_UPPER}: saw ${COLLAGE_BACKEND_${COLLAGE_UPPER}}; allowed AUTO, ON, OFF")
  endif()
endmacro()

# collage_leave_out(NAME REASON): who asks the program in the build tree for this backend is told why it is not there.
function(collage_leave_out name reason)
  set(module "${PROJECT_BINARY_DIR}/lib/collage/libcollage_backend_${name}")
  file(CONFIGURE OUTPUT "${module}.lacks" CONTENT "${reason}\n" @ONLY)
  file(REMOVE "${module}.so")
endfunction()

# collage_backend_requires(NAME VALUE REASON): says, before collage_backend, what else must hold; a false VALUE is a no.
function(collage_backend_requires name value reason)
  if(NOT value)
    set_property(GLOBAL APPEND PROPERTY COLLAGE_LACKS_${name} "${reason}")
  endif()
endfunction()

# collage_backend(NAME SOURCES ... [LIBRARIES ...]) makes lib/collage/libcollage_backend_NAME.so. A library written as an
# imported target (with ::) that does not exist is what the backend lacks.
function(collage_backend name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES")
  collage_check_arguments(${name})
  get_property(lacks GLOBAL PROPERTY COLLAGE_LACKS_${name})
  foreach(library IN LISTS arg_LIBRARIES)
    if(library MATCHES "::" AND NOT TARGET ${library})
      if(DEFINED COLLAGE_MISSING_${library})
        list(APPEND lacks "${COLLAGE_MISSING_${library}}")
      else()
        list(APPEND lacks "no library ${library}")
      endif()
    endif()
  endforeach()
  if(lacks)
    list(JOIN lacks ", " lacks)
    set_property(GLOBAL PROPERTY COLLAGE_LACKS_${name} "${lacks}")
    string(TOUPPER ${name} upper)
    if(COLLAGE_BACKEND_${upper} STREQUAL "ON")
      message(FATAL_ERROR "backend ${name} is ON but cannot be built: ${lacks}")
    endif()
    collage_leave_out(${name} "${lacks}")
    return()
  endif()
  file(REMOVE "${PROJECT_BINARY_DIR}/lib/collage/libcollage_backend_${name}.lacks")

  set(target collage_backend_${name})
  add_library(${target} MODULE ${arg_SOURCES})
  collage_unity(${target})
  collage_folder_targets(folders "${COLLAGE_BACKEND_SEES}")
  target_link_libraries(${target} PRIVATE collage_flags ${folders} ${arg_LIBRARIES})
  set_target_properties(${target} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib/collage"
    INSTALL_RPATH "${COLLAGE_MODULE_RPATH}")
  collage_backend_component(component ${name})
  install(TARGETS ${target} LIBRARY DESTINATION lib/collage COMPONENT ${component})
  set_property(GLOBAL APPEND PROPERTY COLLAGE_BACKENDS_BUILT ${name})
endfunction()

# collage_needs_library(TARGET SONAME PATH FROM): the library is looked for under PATH in the folders of
# COLLAGE_LIBRARY_PATH where the dynamic loader does not find it; FROM says in words who has it (src/backend/open_library.h).
function(collage_needs_library target soname path from)
  if(TARGET ${target})
    set(file "${PROJECT_BINARY_DIR}/lib/collage/lib${target}.needs")
    file(CONFIGURE OUTPUT "${file}" CONTENT "${soname} ${path} ${from}\n" @ONLY)
    install(FILES "${file}" DESTINATION lib/collage)
  endif()
endfunction()

# collage_test(NAME SOURCES ... DEPENDS folders [LIBRARIES ...] [BACKENDS names | none] [APART suites] [COST seconds])
# makes tests/NAME; each gtest suite is a ctest entry, labelled with the folder it lies in. Sources may include
# "tests/support/..." headers. BACKENDS are those it loads, built before it is run: all unless it says so, none where it
# does not depend on `backend`. APART: regular expressions of suites each case of which is an entry, because it takes
# seconds. COST: about how long an entry takes; ctest begins with the dearest.
function(collage_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "COST" "SOURCES;DEPENDS;LIBRARIES;BACKENDS;LABELS;APART")
  collage_check_arguments(${name})
  collage_executable(${name} "${arg_SOURCES}" "${arg_DEPENDS}" "${arg_LIBRARIES};GTest::gmock;GTest::gtest_main" tests)
  collage_test_support(${name})
  target_compile_options(${name} PRIVATE ${COLLAGE_TEST_FLAGS})
  # -fopenmp is a different language to the compiler.
  if(TARGET collage_precompiled AND NOT "OpenMP::OpenMP_CXX" IN_LIST arg_LIBRARIES)
    target_precompile_headers(${name} REUSE_FROM collage_precompiled)
  endif()
  collage_unity(${name} 8)
  collage_test_backends(${name} "${arg_DEPENDS}" "${arg_BACKENDS}")
  file(RELATIVE_PATH folder "${PROJECT_SOURCE_DIR}/tests" "${CMAKE_CURRENT_SOURCE_DIR}")
  if(NOT folder IN_LIST COLLAGE_FOLDERS)
    get_filename_component(folder "${CMAKE_CURRENT_SOURCE_DIR}" NAME)
  endif()
  set(labels ${folder} ${arg_LABELS})
  collage_suites(${name} ${folder} "${labels}" "${arg_APART}" "${arg_COST}")
endfunction()

# collage_suites(NAME FOLDER LABELS APART COST): ctest reads cmake/suites.cmake for the program, which knows its suites.
function(collage_suites name folder labels apart cost)
  list(JOIN apart "|" apart)
  set(limit_s 600)
  if(COLLAGE_SANITIZE)
    set(limit_s 1800)
  endif()
  set(file "${CMAKE_CURRENT_BINARY_DIR}/${name}_suites.cmake")
  file(GENERATE OUTPUT "${file}" CONTENT "set(PROGRAM [[$<TARGET_FILE:${name}>]])
set(RUN_FOLDER [[${CMAKE_CURRENT_BINARY_DIR}]])
set(RESULTS [[${PROJECT_BINARY_DIR}/results]])
set(FOLDER [[${folder}]])
set(LABELS [[${labels}]])
set(APART [[${apart}]])
set(COST [[${cost}]])
set(LIMIT_S ${limit_s})
include([[${PROJECT_SOURCE_DIR}/cmake/suites.cmake]])
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${file}")
endfunction()

function(collage_test_backends name depends backends)
  if(NOT backends AND backend IN_LIST depends)
    get_property(backends GLOBAL PROPERTY COLLAGE_BACKENDS_BUILT)
  endif()
  foreach(backend IN LISTS backends)
    if(TARGET collage_backend_${backend})
      add_dependencies(${name} collage_backend_${backend})
    endif()
  endforeach()
endfunction()

# collage_benchmark(NAME SOURCES ... DEPENDS folders [LIBRARIES ...]) makes bench/NAME, run by ./dev bench.
function(collage_benchmark name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS;LIBRARIES")
  collage_check_arguments(${name})
  collage_executable(${name} "${arg_SOURCES}" "${arg_DEPENDS}" "${arg_LIBRARIES};benchmark::benchmark_main" bench)
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
endfunction()

# The end of a configure: what is built, and what is missing for the rest.
function(collage_summary)
  get_property(built GLOBAL PROPERTY COLLAGE_BACKENDS_BUILT)
  message(STATUS "Collage ${PROJECT_VERSION}, ${CMAKE_BUILD_TYPE}, parts in ${COLLAGE_PREFIX}")
  foreach(name IN LISTS COLLAGE_BACKENDS)
    string(TOUPPER ${name} upper)
    get_property(lacks GLOBAL PROPERTY COLLAGE_LACKS_${name})
    if(name IN_LIST built)
      set(state "yes")
    elseif(COLLAGE_BACKEND_${upper} STREQUAL "OFF")
      set(state "no: switched off")
    elseif(lacks)
      set(state "no: ${lacks}")
    elseif(COLLAGE_BACKEND_${upper} STREQUAL "ON")
      message(FATAL_ERROR "backend ${name} is ON but has no source here")
    else()
      set(state "no: no source here")
    endif()
    message(STATUS "  backend ${name}: ${state}")
  endforeach()
endfunction()

# ---- shared by the functions above ----

macro(collage_check_arguments name)
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES)
    message(FATAL_ERROR "${CMAKE_CURRENT_FUNCTION}(${name}): needs SOURCES; not understood: ${arg_UNPARSED_ARGUMENTS}")
  endif()
endmacro()

function(collage_check_depends name depends allowed)
  foreach(dependency IN LISTS depends)
    if(NOT dependency IN_LIST allowed)
      message(FATAL_ERROR "${name} may not depend on ${dependency}; allowed: ${allowed}")
    endif()
  endforeach()
endfunction()

function(collage_folder_targets result folders)
  list(TRANSFORM folders REPLACE "/" "_")
  list(TRANSFORM folders PREPEND "collage_")
  set(${result} ${folders} PARENT_SCOPE)
endfunction()

function(collage_executable name sources depends libraries output)
  collage_check_depends(${name} "${depends}" "${COLLAGE_FOLDERS}")
  collage_folder_targets(folders "${depends}")
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE collage_flags ${folders} fmt::fmt ${libraries} Threads::Threads)
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/${output}"
    INSTALL_RPATH "$ORIGIN/../lib")
  if(COLLAGE_SANITIZE MATCHES "address")
    target_sources(${name} PRIVATE "${PROJECT_SOURCE_DIR}/tests/support/dlopen_interposer.cpp")
  endif()
endfunction()

# Headers and sources of the tree, and where things lie: collage_test_paths, from tests/support.
function(collage_test_support name)
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE collage_test_paths)
endfunction()
