# collage_add_backend(KIND SOURCE... [LIBRARIES ...]) makes libcollage_backend_KIND.so, a module for
# `collage --backend-library` or a folder of COLLAGE_BACKEND_PATH.
function(collage_add_backend kind)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LIBRARIES")
  if(NOT kind MATCHES "^[a-z0-9_-]+$" OR NOT arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "collage_add_backend(${kind} ...): needs a kind of a-z, 0-9, _ and -, and sources")
  endif()
  set(target collage_backend_${kind})
  add_library(${target} MODULE ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${target} PRIVATE Collage::backend Collage::onnx ${arg_LIBRARIES})
  target_link_options(${target} PRIVATE -Wl,--no-undefined)
  set_target_properties(${target} PROPERTIES
    PREFIX lib
    CXX_STANDARD 23 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF
    POSITION_INDEPENDENT_CODE ON)
endfunction()
