# What an installed tree has for backends and programs that are built outside of this one: headers, libraries to link, a
# CMake package.
include(CMakePackageConfigHelpers)

set(COLLAGE_PACKAGE_FOLDER lib/cmake/Collage)

# collage_install_library(FOLDER): its library becomes Collage::FOLDER, its headers are installed. Headers that need the
# ONNX library's own stay here, and so do those that only the folders behind api/run see.
function(collage_install_library folder)
  if(folder STREQUAL "api/c")
    collage_install_c_interface(api_c collage collage.h collage.hpp expected.hpp)
    return()
  elseif(folder STREQUAL "api/c_tune")
    collage_install_c_interface(api_c_tune collage-tuner collage_tune.h collage_tune.hpp collage_tune_options.hpp)
    return()
  endif()
  string(REPLACE "/" "_" name ${folder})
  target_compile_features(collage_${name} PUBLIC cxx_std_23)
  install(TARGETS collage_${name} EXPORT CollageTargets
    LIBRARY DESTINATION lib
    INCLUDES DESTINATION include/collage)
  set(headers PATTERN "*.h" PATTERN "proto.h" EXCLUDE PATTERN "contrib_schemas.h" EXCLUDE)
  if(folder STREQUAL "plan")
    return()
  elseif(folder STREQUAL "runtime")
    set(headers PATTERN "load_options.h" PATTERN "tensor_port.h")
    # Collage::runtime is the library for programs in C.
    set_target_properties(collage_runtime PROPERTIES EXPORT_NAME plan_runtime)
  elseif(folder STREQUAL "api/run")
    set(headers PATTERN "loaded_plan.h" PATTERN "plan_metadata.h" PATTERN "session.h")
  endif()
  install(DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}/" DESTINATION include/collage/${folder} FILES_MATCHING ${headers})
endfunction()

# collage_install_c_interface(TARGET PACKAGE HEADER...): a library for programs in C, headers that they include as
# <collage/HEADER>, and what finds them: CollageConfig.cmake makes Collage::runtime and Collage::tune by hand, without the
# libraries behind them; PACKAGE.pc is for pkg-config.
function(collage_install_c_interface name package)
  install(TARGETS collage_${name} LIBRARY DESTINATION lib)
  install(FILES ${ARGN} DESTINATION include/collage)
  configure_file("${PROJECT_SOURCE_DIR}/cmake/${package}.pc.in" "${PROJECT_BINARY_DIR}/${package}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${package}.pc" DESTINATION lib/pkgconfig)
endfunction()

function(collage_install_package)
  install(EXPORT CollageTargets NAMESPACE Collage:: DESTINATION ${COLLAGE_PACKAGE_FOLDER})
  configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/CollageConfig.cmake.in"
    "${PROJECT_BINARY_DIR}/CollageConfig.cmake" INSTALL_DESTINATION ${COLLAGE_PACKAGE_FOLDER})
  write_basic_package_version_file("${PROJECT_BINARY_DIR}/CollageConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
  install(FILES
    "${PROJECT_BINARY_DIR}/CollageConfig.cmake"
    "${PROJECT_BINARY_DIR}/CollageConfigVersion.cmake"
    "${PROJECT_SOURCE_DIR}/cmake/CollageBackend.cmake"
    DESTINATION ${COLLAGE_PACKAGE_FOLDER})
endfunction()
