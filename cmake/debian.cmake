# Debian packages, made by cpack from an installed tree's components: libcollage0, collage, libcollage-dev. Dependencies on
# libraries of Debian are read from the files (dpkg-shlibdeps); those among the packages are on the same version.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME collage)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_VENDOR "Collage")
set(CPACK_PACKAGE_CONTACT "Collage maintainers <maintainers@collage.invalid>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_SET_DESTDIR OFF)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL runtime program development)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_THREADS 2) # more than one, and always as many: the number is part of the result
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Libraries of these packages are no dependencies on others.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS
  "${PROJECT_BINARY_DIR}/lib" "${PROJECT_BINARY_DIR}/lib/collage" "${PROJECT_BINARY_DIR}/lib/collage/engines")

set(same "(= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libcollage0)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS "libopenblas0-openmp, libblis4-openmp")
# The first line is the summary.
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION "library that runs tuned plans of ONNX models
Loads plans that the command collage has written and runs them, with the
backends that need nothing but Debian's own libraries: host, native, onednn,
blas.")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME collage)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
# The compiler of `native` starts as and ld.
set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS "libcollage0 ${same}, binutils")
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION "makes ONNX models run faster with a mixture of libraries
Measures which library runs which part of an ONNX model fastest on this
machine, and writes the result as a plan. Contains ONNX Runtime, OpenVINO and
Halide.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libcollage-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libcollage0 ${same}")
# Backends are built with a library of the command and tried with it; programs that run plans need neither.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS "collage ${same}, libfmt-dev, nlohmann-json3-dev")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "headers of Collage
For programs in C and C++ that run plans, and for backends of one's own.
Packages for CMake and pkg-config.")

# The loader's table of libraries is renewed after an installation; packages built later know which package has
# libcollage.so.0.
file(WRITE "${PROJECT_BINARY_DIR}/debian/triggers" "activate-noawait ldconfig\n")
file(WRITE "${PROJECT_BINARY_DIR}/debian/shlibs" "libcollage 0 libcollage0 (>= ${PROJECT_VERSION})\n")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA "${PROJECT_BINARY_DIR}/debian/triggers;${PROJECT_BINARY_DIR}/debian/shlibs")

# Licences of what each package contains, written by tools/release.sh before packing.
foreach(part libcollage0:runtime collage:program libcollage-dev:development)
  string(REPLACE ":" ";" part ${part})
  list(GET part 0 package)
  list(GET part 1 component)
  install(FILES "${PROJECT_BINARY_DIR}/contents/${package}/copyright" DESTINATION share/doc/${package}
    COMPONENT ${component} OPTIONAL)
endforeach()
install(FILES "${PROJECT_SOURCE_DIR}/CHANGELOG.md" DESTINATION share/doc/collage COMPONENT program)
include(CPack)
