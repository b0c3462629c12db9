# Third-party libraries as imported targets. What every build needs is REQUIRED; what only a backend needs is looked for
# and, when absent, leaves its reason in COLLAGE_MISSING_<target> for the summary.

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(SQLiteCpp REQUIRED) # SQLiteCpp
find_package(PkgConfig REQUIRED)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET GLOBAL libxxhash)
add_library(xxhash::xxhash ALIAS PkgConfig::xxhash)
pkg_check_modules(httplib REQUIRED IMPORTED_TARGET GLOBAL cpp-httplib)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(Protobuf REQUIRED)

# ONNX's own library: only src/onnx links it. Debian has an older one, so the prefix is the only place to look.
find_package(ONNX ${COLLAGE_PART_onnx_VERSION} EXACT QUIET CONFIG NO_DEFAULT_PATH
  PATHS "${COLLAGE_PART_onnx}/lib/cmake/ONNX")
if(NOT ONNX_FOUND)
  message(FATAL_ERROR "ONNX ${COLLAGE_PART_onnx_VERSION} is not in ${COLLAGE_PART_onnx}: run ./dev setup")
endif()
set_target_properties(ONNX::onnx PROPERTIES INTERFACE_LINK_LIBRARIES "ONNX::onnx_proto;protobuf::libprotobuf")
# Headers only, for tests that build models: the code is the one copy inside collage_onnx.
add_library(collage_onnx_headers INTERFACE)
add_library(collage::onnx_headers ALIAS collage_onnx_headers)
target_compile_definitions(collage_onnx_headers INTERFACE ONNX_NAMESPACE=onnx ONNX_ML=1)
target_include_directories(collage_onnx_headers SYSTEM INTERFACE "${COLLAGE_PART_onnx}/include")
target_link_libraries(collage_onnx_headers INTERFACE protobuf::libprotobuf)

macro(collage_missing target reason)
  set(COLLAGE_MISSING_${target} "${reason}")
endmacro()

# onnxruntime::onnxruntime
set(ort "${COLLAGE_PART_onnxruntime}")
if(EXISTS "${ort}/lib/libonnxruntime.so" AND EXISTS "${ort}/include/onnxruntime/onnxruntime_cxx_api.h")
  add_library(onnxruntime::onnxruntime SHARED IMPORTED)
  set_target_properties(onnxruntime::onnxruntime PROPERTIES
    IMPORTED_LOCATION "${ort}/lib/libonnxruntime.so.${COLLAGE_PART_onnxruntime_VERSION}"
    IMPORTED_SONAME libonnxruntime.so.1
    INTERFACE_INCLUDE_DIRECTORIES "${ort}/include/onnxruntime")
else()
  collage_missing(onnxruntime::onnxruntime "ONNX Runtime is not in ${ort}: run ./dev setup")
endif()

# openvino::runtime
find_package(OpenVINO QUIET CONFIG NO_DEFAULT_PATH COMPONENTS Runtime PATHS "${COLLAGE_PART_openvino}/openvino/cmake")
if(NOT TARGET openvino::runtime)
  collage_missing(openvino::runtime "OpenVINO is not in ${COLLAGE_PART_openvino}: run ./dev setup")
endif()

# DNNL::dnnl
find_package(dnnl 2.6 QUIET CONFIG)
if(NOT TARGET DNNL::dnnl)
  collage_missing(DNNL::dnnl "oneDNN 2.6 or newer of the 2.x line is not installed: run ./dev setup")
endif()

# DNNL3::dnnl, the next major version: only where it was asked for.
set(onednn3 "${COLLAGE_PART_onednn3}")
if(EXISTS "${onednn3}/lib/libdnnl.so.3" AND EXISTS "${onednn3}/include/oneapi/dnnl/dnnl.hpp")
  add_library(DNNL3::dnnl SHARED IMPORTED)
  set_target_properties(DNNL3::dnnl PROPERTIES
    IMPORTED_LOCATION "${onednn3}/lib/libdnnl.so.3"
    IMPORTED_SONAME libdnnl.so.3
    INTERFACE_INCLUDE_DIRECTORIES "${onednn3}/include")
else()
  collage_missing(DNNL3::dnnl "oneDNN 3 is not in ${onednn3}: run ./dev setup onednn3")
endif()

# MNN::MNN, only where it was asked for. Its schema and the flatbuffers that read it are headers beside its own.
if(EXISTS "${COLLAGE_PART_mnn}/lib/libMNN.so" AND EXISTS "${COLLAGE_PART_mnn}/include/MNN/Interpreter.hpp")
  add_library(MNN::MNN SHARED IMPORTED)
  set_target_properties(MNN::MNN PROPERTIES
    IMPORTED_LOCATION "${COLLAGE_PART_mnn}/lib/libMNN.so"
    IMPORTED_SONAME libMNN.so
    INTERFACE_INCLUDE_DIRECTORIES "${COLLAGE_PART_mnn}/include;${COLLAGE_PART_mnn}/include/schema")
else()
  collage_missing(MNN::MNN "MNN is not in ${COLLAGE_PART_mnn}: run ./dev setup mnn")
endif()

# XNNPACK::XNNPACK, only where it was asked for: archives, and the library that tells them the processor.
set(xnnpack "${COLLAGE_PART_xnnpack}")
if(EXISTS "${xnnpack}/lib/libXNNPACK.a" AND EXISTS "${xnnpack}/include/xnnpack.h")
  add_library(XNNPACK::cpuinfo SHARED IMPORTED)
  set_target_properties(XNNPACK::cpuinfo PROPERTIES
    IMPORTED_LOCATION "${xnnpack}/lib/libcpuinfo.so.0"
    IMPORTED_SONAME libcpuinfo.so.0)
  add_library(XNNPACK::XNNPACK STATIC IMPORTED)
  set_target_properties(XNNPACK::XNNPACK PROPERTIES
    IMPORTED_LOCATION "${xnnpack}/lib/libXNNPACK.a"
    INTERFACE_INCLUDE_DIRECTORIES "${xnnpack}/include")
  target_link_libraries(XNNPACK::XNNPACK INTERFACE
    "${xnnpack}/lib/libmicrokernels-prod.a" "${xnnpack}/lib/libpthreadpool.a" XNNPACK::cpuinfo Threads::Threads)
else()
  collage_missing(XNNPACK::XNNPACK "XNNPACK is not in ${xnnpack}: run ./dev setup xnnpack")
endif()

# Halide::Halide, the compiler of tensor code: only what compiles links it, never what runs.
if(EXISTS "${COLLAGE_PART_halide}/lib/libHalide.so" AND EXISTS "${COLLAGE_PART_halide}/include/Halide.h")
  add_library(Halide::Halide SHARED IMPORTED)
  set_target_properties(Halide::Halide PROPERTIES
    IMPORTED_LOCATION "${COLLAGE_PART_halide}/lib/libHalide.so"
    INTERFACE_INCLUDE_DIRECTORIES "${COLLAGE_PART_halide}/include")
else()
  collage_missing(Halide::Halide "Halide is not in ${COLLAGE_PART_halide}: run ./dev setup")
endif()

# libxsmm::generator, which writes micro-kernels as machine code: an archive, linked only by what compiles.
find_library(COLLAGE_XSMM_GENERATOR xsmmgen)
find_path(COLLAGE_XSMM_INCLUDE libxsmm_generator.h)
if(COLLAGE_XSMM_GENERATOR AND COLLAGE_XSMM_INCLUDE)
  add_library(libxsmm::generator STATIC IMPORTED)
  set_target_properties(libxsmm::generator PROPERTIES
    IMPORTED_LOCATION "${COLLAGE_XSMM_GENERATOR}"
    INTERFACE_INCLUDE_DIRECTORIES "${COLLAGE_XSMM_INCLUDE}")
else()
  collage_missing(libxsmm::generator "libxsmm is not installed: run ./dev setup")
endif()

# What `collage version` tells: "NAME=VERSION|NAME=VERSION". A library that is loaded later may be a newer one.
set(COLLAGE_BUILT_WITH "ONNX=${COLLAGE_PART_onnx_VERSION}")
macro(collage_built_with target name version)
  if(TARGET ${target})
    string(APPEND COLLAGE_BUILT_WITH "|${name}=${version}")
  endif()
endmacro()
collage_built_with(protobuf::libprotobuf Protobuf "${Protobuf_VERSION}")
collage_built_with(SQLite::SQLite3 SQLite "${SQLite3_VERSION}")
collage_built_with(OpenSSL::Crypto OpenSSL "${OPENSSL_VERSION}")
collage_built_with(onnxruntime::onnxruntime "ONNX Runtime" "${COLLAGE_PART_onnxruntime_VERSION}")
collage_built_with(openvino::runtime OpenVINO "${COLLAGE_PART_openvino_VERSION}")
collage_built_with(DNNL::dnnl oneDNN "${dnnl_VERSION}")
collage_built_with(XNNPACK::XNNPACK XNNPACK "${COLLAGE_PART_xnnpack_VERSION}")
collage_built_with(Halide::Halide Halide "${COLLAGE_PART_halide_VERSION}")
