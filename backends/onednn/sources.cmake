# The sources of every oneDNN backend, whatever the library's major version; paths begin here.
set(COLLAGE_ONEDNN_FOLDER "${CMAKE_CURRENT_LIST_DIR}")
set(COLLAGE_ONEDNN_SOURCES
  check_program.cpp layout.cpp library.cpp onednn_backend.cpp program.cpp rules.cpp
  analysis/analysis.cpp analysis/analysis_join.cpp analysis/heads_other.cpp analysis/heads_window.cpp
  analysis/steps.cpp
  lowering/choices.cpp lowering/composer.cpp lowering/lower.cpp lowering/lower_convolution.cpp
  lowering/lower_deconvolution.cpp lowering/lower_elementwise.cpp lowering/lower_join.cpp lowering/lower_matmul.cpp
  lowering/lower_other.cpp lowering/lower_parts.cpp lowering/lower_resize.cpp lowering/lower_series.cpp
  lowering/narrow.cpp
  primitives/algorithms.cpp primitives/constants.cpp primitives/kernel.cpp primitives/primitives.cpp
  primitives/realise.cpp
  ../common/build_id/build_id.cpp
  ../common/window/window.cpp
  ../common/quantised/bytes.cpp
  analysis/analysis_bytes.cpp lowering/lower_bytes.cpp check_operation.cpp lowering/split.cpp primitives/split.cpp
  primitives/attributes.cpp)
list(TRANSFORM COLLAGE_ONEDNN_SOURCES PREPEND "${COLLAGE_ONEDNN_FOLDER}/")
find_package(OpenMP COMPONENTS CXX QUIET)

# collage_onednn_module(KIND): after collage_backend. Modules of both kinds may be in one process: neither shows its
# symbols, which have the same names.
function(collage_onednn_module kind)
  if(TARGET collage_backend_${kind})
    target_include_directories(collage_backend_${kind} PRIVATE "${COLLAGE_ONEDNN_FOLDER}" "${PROJECT_SOURCE_DIR}")
    target_compile_definitions(collage_backend_${kind} PRIVATE COLLAGE_ONEDNN_KIND="${kind}")
    target_compile_options(collage_backend_${kind} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)
    set_target_properties(collage_backend_${kind} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  endif()
endfunction()
