# The libraries of engines and of the native compiler, which Debian does not have. A usual build finds them where the
# parts lie. A release carries them in lib/collage/engines, unchanged, found by a path relative to the module.
set(COLLAGE_MODULE_RPATH "$ORIGIN/..")
# The MKL that ./dev setup mkl has fetched, for modules whose kernels call it: each has to find it alone, also in a process
# where no other module has opened it. A release depends on no folder of the machine that built it.
set(COLLAGE_MKL_RPATH "")
if(NOT COLLAGE_RELEASE)
  if(EXISTS "${COLLAGE_PART_mkl}/lib")
    set(COLLAGE_MKL_RPATH "${COLLAGE_PART_mkl}/lib")
  endif()
  return()
endif()
set(COLLAGE_MODULE_RPATH "$ORIGIN/..;$ORIGIN/engines")

# Of OpenVINO what computes on the processor: its plugin, the reader of ONNX and of its own form, threads, topology.
set(openvino "${COLLAGE_PART_openvino}/openvino/libs")
file(GLOB COLLAGE_ENGINE_FILES
  "${COLLAGE_PART_halide}/lib/libHalide.so"
  "${COLLAGE_PART_halide}/lib/libautoschedule_mullapudi2016.so"
  "${openvino}/libopenvino.so.*" "${openvino}/libopenvino_intel_cpu_plugin.so"
  "${openvino}/libopenvino_onnx_frontend.so.*" "${openvino}/libopenvino_ir_frontend.so.*"
  "${openvino}/libtbb.so.*" "${openvino}/libtbbmalloc.so.*" "${openvino}/libtbbbind_2_5.so.*" "${openvino}/libhwloc.so.*")
set(engines lib/collage/engines)
install(FILES ${COLLAGE_ENGINE_FILES} DESTINATION ${engines} COMPONENT program)
install(FILES "${COLLAGE_PART_onnxruntime}/lib/libonnxruntime.so.${COLLAGE_PART_onnxruntime_VERSION}"
  DESTINATION ${engines} COMPONENT program RENAME libonnxruntime.so.1)

# The build tree is laid out as the installed one.
file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/${engines}")
foreach(file IN LISTS COLLAGE_ENGINE_FILES)
  get_filename_component(name "${file}" NAME)
  file(CREATE_LINK "${file}" "${PROJECT_BINARY_DIR}/${engines}/${name}" SYMBOLIC)
endforeach()
file(CREATE_LINK "${COLLAGE_PART_onnxruntime}/lib/libonnxruntime.so.${COLLAGE_PART_onnxruntime_VERSION}"
  "${PROJECT_BINARY_DIR}/${engines}/libonnxruntime.so.1" SYMBOLIC)
