# What an installed tree has for backends and programs that are built outside of this one: headers, libraries to link, a
# CMake package; and the components it is divided into, each of which is a Debian package (cmake/debian.cmake):
# - runtime: libcollage.so and what it needs to run plans,
# - program: the command, what tunes, backends that are engines,
# - development: headers, packages for CMake and pkg-config, libcollage.so without a number.
# What names no component is part of `program`.
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME program)

# collage_component(RESULT FOLDER): the component that the library of a folder belongs to. No plan is run with ONNX's
# library, though backends are built with it.
function(collage_component result folder)
  set(${result} program PARENT_SCOPE)
  if(NOT folder STREQUAL "onnx" AND (folder IN_LIST COLLAGE_BACKEND_SEES OR folder IN_LIST COLLAGE_RUN_FOLDERS))
    set(${result} runtime PARENT_SCOPE)
  endif()
endfunction()

# collage_backend_component(RESULT NAME): likewise for a backend: an engine comes with the program.
function(collage_backend_component result name)
  set(${result} runtime PARENT_SCOPE)
  if(name IN_LIST COLLAGE_ENGINES)
    set(${result} program PARENT_SCOPE)
  endif()
endfunction()

set(COLLAGE_PACKAGE_FOLDER lib/cmake/Collage)

# collage_install_library(FOLDER): its library becomes Collage::FOLDER, its headers are installed. Headers that need the
# ONNX library's own stay here, and so do those that only the folders behind api/run see.
function(collage_install_library folder)
  if(folder STREQUAL "api/c")
    collage_install_c_interface(api_c collage runtime collage.h collage.hpp expected.hpp)
    return()
  elseif(folder STREQUAL "api/c_tune")
    collage_install_c_interface(api_c_tune collage-tuner program collage_tune.h collage_tune.hpp collage_tune_options.hpp)
    return()
  endif()
  string(REPLACE "/" "_" name ${folder})
  target_compile_features(collage_${name} PUBLIC cxx_std_23)
  collage_component(component ${folder})
  install(TARGETS collage_${name} EXPORT CollageTargets
    LIBRARY DESTINATION lib COMPONENT ${component}
    INCLUDES DESTINATION include/collage)
  set(headers PATTERN "*.h" PATTERN "proto.h" EXCLUDE PATTERN "schemas" EXCLUDE)
  if(folder STREQUAL "plan")
    install(FILES "${CMAKE_CURRENT_SOURCE_DIR}/signature/key.h" DESTINATION include/collage/plan/signature COMPONENT development)
    return()
  elseif(folder STREQUAL "runtime")
    set(headers PATTERN "load_options.h" PATTERN "tensor_port.h")
    # Collage::runtime is the library for programs in C.
    set_target_properties(collage_runtime PROPERTIES EXPORT_NAME plan_runtime)
  elseif(folder STREQUAL "api/run")
    set(headers PATTERN "loaded_plan.h" PATTERN "plan_metadata.h" PATTERN "session.h")
  endif()
  install(DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}/" DESTINATION include/collage/${folder}
    COMPONENT development FILES_MATCHING ${headers})
endfunction()

# collage_install_c_interface(TARGET PACKAGE COMPONENT HEADER...): a library for programs in C, headers that they include
# as <collage/HEADER>, and what finds them: CollageConfig.cmake makes Collage::runtime and Collage::tune by hand, without
# the libraries behind them; PACKAGE.pc is for pkg-config.
function(collage_install_c_interface name package component)
  install(TARGETS collage_${name} LIBRARY DESTINATION lib COMPONENT ${component} NAMELINK_COMPONENT development)
  install(FILES ${ARGN} DESTINATION include/collage COMPONENT development)
  configure_file("${PROJECT_SOURCE_DIR}/cmake/${package}.pc.in" "${PROJECT_BINARY_DIR}/${package}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${package}.pc" DESTINATION lib/pkgconfig COMPONENT development)
endfunction()

function(collage_install_package)
  install(EXPORT CollageTargets NAMESPACE Collage:: DESTINATION ${COLLAGE_PACKAGE_FOLDER} COMPONENT development)
  set(COLLAGE_HALIDE_DEFAULT "${COLLAGE_PART_halide}")
  if(COLLAGE_RELEASE)
    set(COLLAGE_HALIDE_DEFAULT "")
  endif()
  configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/CollageConfig.cmake.in"
    "${PROJECT_BINARY_DIR}/CollageConfig.cmake" INSTALL_DESTINATION ${COLLAGE_PACKAGE_FOLDER})
  write_basic_package_version_file("${PROJECT_BINARY_DIR}/CollageConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
  install(FILES
    "${PROJECT_BINARY_DIR}/CollageConfig.cmake"
    "${PROJECT_BINARY_DIR}/CollageConfigVersion.cmake"
    "${PROJECT_SOURCE_DIR}/cmake/CollageBackend.cmake"
    DESTINATION ${COLLAGE_PACKAGE_FOLDER} COMPONENT development)
endfunction()
