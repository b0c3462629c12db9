# Objects of exported libraries: folders and backends compiled once more, position independent, without ONNX's library
# and the dynamic loader. src/export/library makes an archive of them.
set(COLLAGE_EXPORT_FLAGS -O2 -g0 -U_GLIBCXX_ASSERTIONS -ffunction-sections -fdata-sections -fvisibility=hidden
  -fvisibility-inlines-hidden -fno-gnu-unique -fno-sanitize=all)

# collage_export_objects(TARGET FOLDER sources...): the sources lie in the folder.
function(collage_export_objects target folder)
  list(TRANSFORM ARGN PREPEND "${PROJECT_SOURCE_DIR}/${folder}/" OUTPUT_VARIABLE sources)
  add_library(${target} OBJECT ${sources})
  target_compile_options(${target} PRIVATE ${COLLAGE_EXPORT_FLAGS})
  # Numbers in messages are written without the locale, most of whose code an exported library then lacks.
  target_compile_definitions(${target} PRIVATE "FMT_STATIC_THOUSANDS_SEPARATOR=','")
  target_link_libraries(${target} PRIVATE collage_flags fmt::fmt-header-only nlohmann_json::nlohmann_json)
  collage_unity(${target})
  set_property(GLOBAL APPEND PROPERTY COLLAGE_EXPORT_OBJECTS ${target})
endfunction()

# collage_export_backend(KIND sources...): of backends/KIND; called there, where its sources have their flags. The entry
# of its module gets a name of its own.
function(collage_export_backend kind)
  set(target collage_export_backend_${kind})
  collage_export_objects(${target} backends/${kind} ${ARGN})
  target_compile_definitions(${target} PRIVATE collage_backend_module=collage_linked_${kind})
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/backends/${kind}" "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${target} PRIVATE OpenMP::OpenMP_CXX)
  set_property(GLOBAL APPEND PROPERTY COLLAGE_EXPORT_MODULES "COLLAGE_MODULE(${kind})")
endfunction()
