# Parts that Debian 12 does not have, in one prefix outside the checkout. Sourced by ./dev, which calls ensure_parts;
# that runs this file as a program for each part, so that the first failing command ends it.
#
# Each part is $COLLAGE_PREFIX/NAME-VERSION with a .stamp; it is made in a work folder and renamed into place under a
# lock, so that a killed run leaves nothing half done and two checkouts can share the prefix.

# Raise it when the way a part is made changes.
RECIPE=1

part_rows() { awk -v part="$1" '$1 == part' "$ROOT/tools/parts.txt"; }
part_version() { part_rows "$1" | awk 'NR == 1 { print $3 }'; }
part_dir() {
  case "$1" in
    onnx-cases | hostile-cases) echo "$COLLAGE_PREFIX/$1-$(part_version onnx)" ;;
    *) echo "$COLLAGE_PREFIX/$1-$(part_version "$1")" ;;
  esac
}
part_stamp() {
  echo "recipe $RECIPE"
  case "$1" in
    onnx-cases) sha256sum <"$ROOT/tools/onnx_cases.py"; part_rows python ;;
    hostile-cases) cat "$ROOT"/tools/hostile/*.py | sha256sum; part_rows python ;;
    onnxruntime) part_rows onnxruntime; part_rows onnxruntime-headers ;;
    onnx) echo "no paths of this machine"; part_rows onnx ;;
    *) part_rows "$1" ;;
  esac
}
part_ready() { [ "$(cat "$(part_dir "$1")/.stamp" 2>/dev/null)" = "$(part_stamp "$1")" ]; }

# ensure_parts NAME...: makes those that are missing, all at once: most are downloads, one is a long compile.
ensure_parts() {
  local part making=()
  for part in "$@"; do
    if ! part_ready "$part"; then
      make_part "$part" &
      making+=($!)
    fi
  done
  for part in "${making[@]}"; do wait "$part" || exit 1; done
}

make_part() {
  local part="$1" target work lock
  target="$(part_dir "$part")"
  work="$COLLAGE_PREFIX/work/$part"
  mkdir -p "$COLLAGE_PREFIX/work"
  exec {lock}>"$COLLAGE_PREFIX/work/$part.lock"
  flock --nonblock "$lock" || { say "$part: waiting for another run"; flock "$lock"; }
  if ! part_ready "$part"; then
    say "$part: making $target"
    rm -rf "$work/out"
    mkdir -p "$work/out" "$work/download"
    bash "$ROOT/tools/parts.sh" "$part" "$work" || die "$part could not be made; its files are in $work"
    part_stamp "$part" >"$work/out/.stamp"
    rm -rf "$target"
    mv -T "$work/out" "$target"
    rm -rf "$work"
    say "$part: ready"
  fi
  exec {lock}>&-
}

# pip_fetch NAME PACKAGE: downloads the pinned file of a part into ./download; pip checks its hash.
pip_fetch() {
  local name version kind sha
  read -r _ name version kind sha < <(part_rows "$1" | awk -v package="$2" '$2 == package')
  echo "$name==$version --hash=sha256:$sha" >"download/$name.txt"
  local form=(--only-binary=:all: --python-version 311 --platform manylinux_2_28_x86_64
    --platform manylinux_2_27_x86_64 --platform manylinux2014_x86_64 --platform manylinux_2_17_x86_64
    --platform manylinux2010_x86_64 --platform manylinux_2_12_x86_64 --platform manylinux1_x86_64)
  [ "$kind" = wheel ] || form=(--no-binary="$name")
  "$PYTHON" -m pip download --disable-pip-version-check --no-deps "${form[@]}" --dest download \
    --requirement "download/$name.txt" >&2
}

# unzip_wheel PACKAGE FOLDER
unzip_wheel() { "$PYTHON" -m zipfile -e download/"$1"-*.whl "$2"; }

make_cmake() {
  pip_fetch cmake cmake
  unzip_wheel cmake wheel
  mv wheel/cmake/data/{bin,share} "$1/"
  chmod +x "$1"/bin/*
}

# The front end, static, against Debian's protobuf. Its build needs a newer CMake than Debian's. Messages in it name its
# sources: the same wherever it is built.
make_onnx() {
  ensure_parts cmake
  local cmake
  cmake="$(part_dir cmake)/bin/cmake"
  [ -d source ] || { pip_fetch onnx onnx; mkdir source.part; tar xf download/onnx-*.tar.gz -C source.part \
    --strip-components=1; mv source.part source; }
  say "onnx: compiling, about two minutes on one core"
  "$cmake" -S source -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE="-O1 -DNDEBUG --param=ggc-min-heapsize=4000000 -ffile-prefix-map=$PWD=onnx" \
    -DONNX_USE_UNITY_BUILD=ON \
    -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
    -DBUILD_SHARED_LIBS=OFF -DONNX_ML=ON -DONNX_USE_PROTOBUF_SHARED_LIBS=ON -DONNX_BUILD_PYTHON=OFF \
    -DONNX_BUILD_TESTS=OFF -DONNX_GEN_PB_TYPE_STUBS=OFF >configure.log 2>&1 || { cat configure.log >&2; return 1; }
  "$cmake" --build build --parallel "$JOBS" >&2
  "$cmake" --install build --prefix "$1" >/dev/null
  cp source/LICENSE "$1/"
}

# The library comes from the wheel, its headers from Debian 13: the C API is versioned, an older header is supported.
make_onnxruntime() {
  pip_fetch onnxruntime onnxruntime
  unzip_wheel onnxruntime wheel
  local version
  version="$(part_version onnxruntime)"
  mkdir "$1/lib"
  cp "wheel/onnxruntime/capi/libonnxruntime.so.$version" wheel/onnxruntime/capi/libonnxruntime_providers_shared.so \
    "$1/lib/"
  ln -s "libonnxruntime.so.$version" "$1/lib/libonnxruntime.so.1"
  ln -s libonnxruntime.so.1 "$1/lib/libonnxruntime.so"
  cp wheel/onnxruntime/LICENSE wheel/onnxruntime/ThirdPartyNotices.txt "$1/"
  trixie_fetch onnxruntime-headers
  dpkg-deb -x download/libonnxruntime-dev_*.deb headers
  cp -r headers/usr/include "$1/include"
}

# trixie_fetch PART [PACKAGE]: a row's package of Debian 13 from the mirrors this machine uses for Debian 12, without
# touching its package lists.
trixie_fetch() {
  local package version sha
  read -r _ package version _ sha < <(part_rows "$1" | awk -v package="${2:-}" 'package == "" || $2 == package')
  trixie_get deb download "$package=$version"
  echo "$sha $(echo download/"$package"_*.deb)" | sha256sum --check --quiet -
}

# trixie_source_fetch PART PACKAGE FOLDER: unpacks what the authors released of a source package of Debian 13, without
# Debian's patches, into a new folder.
trixie_source_fetch() {
  local package version sha
  read -r _ package version _ sha < <(part_rows "$1" | awk -v package="$2" '$2 == package')
  trixie_get deb-src source --download-only --tar-only "$package=$version"
  echo "$sha $(echo download/"$package"_*.orig.tar.*)" | sha256sum --check --quiet -
  rm -rf "$3.part"
  mkdir "$3.part"
  tar xf download/"$package"_*.orig.tar.* -C "$3.part"
  # Some archives hold one folder with everything, some hold everything directly.
  if [ "$(ls "$3.part" | wc -l)" = 1 ]; then mv -T "$3.part"/* "$3"; else mv -T "$3.part" "$3"; fi
}

# trixie_get KIND COMMAND...: an apt-get command in ./download that sees Debian 13's packages (deb) or sources (deb-src).
trixie_get() {
  local kind="$1" base
  shift
  mkdir -p apt/lists/partial apt/cache/archives/partial apt/sources
  local options=(-q -o Dir::State="$PWD/apt" -o Dir::State::status=/var/lib/dpkg/status -o Dir::Cache="$PWD/apt/cache"
    -o APT::Sandbox::User=root -o Acquire::Languages=none)
  for base in $(apt-get "${options[@]}" update --print-uris | sed -n "s|^'\(.*\)/dists/bookworm/InRelease'.*|\1|p"); do
    echo "$kind [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $base trixie main" >apt/sources/trixie.list
    (
      options+=(-o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$PWD/apt/sources")
      apt-get "${options[@]}" update >&2
      cd download && apt-get "${options[@]}" "$@" >&2
    ) && return
  done
  return 1
}

make_openvino() {
  pip_fetch openvino openvino
  unzip_wheel openvino wheel
  mkdir "$1/openvino"
  mv wheel/openvino/{cmake,include,libs} "$1/openvino/"
  mv wheel/openvino-*.dist-info/licenses "$1/"
}

# Tensor code: headers and the one library, which holds its own LLVM.
make_halide() {
  pip_fetch halide halide
  unzip_wheel halide wheel
  mkdir -p "$1/lib" "$1/include"
  mv wheel/halide/lib64/libHalide.so wheel/halide/lib64/libautoschedule_mullapudi2016.so "$1/lib/"
  mv wheel/halide/include/{Halide,HalideBuffer,HalideRuntime}.h "$1/include/"
  mv wheel/halide-*.dist-info/licenses "$1/"
}

# oneDNN 3.2 on GCC's OpenMP, as Intel packs it; ./dev setup onednn3.
make_onednn3() {
  local package
  for package in onednn-cpu-gomp onednn-devel-cpu-gomp; do
    pip_fetch onednn3 "$package"
    unzip_wheel "${package//-/_}" wheel
  done
  mkdir -p "$1/lib"
  mv wheel/onednn_cpu_gomp-*.data/data/lib/libdnnl.so.3 "$1/lib/"
  mv wheel/onednn_devel_cpu_gomp-*.data/data/include "$1/"
  mv wheel/onednn_cpu_gomp-*.data/data/share/doc/onednn/{LICENSE,THIRD-PARTY-PROGRAMS} "$1/"
}

# NVIDIA's compiler of CUDA C++ as a library, for nvrtc; ./dev setup nvrtc.
make_nvrtc() {
  pip_fetch nvrtc nvidia-cuda-nvrtc
  unzip_wheel nvidia_cuda_nvrtc wheel
  mkdir "$1/lib"
  mv wheel/nvidia/cu13/lib/libnvrtc.so.13 wheel/nvidia/cu13/lib/libnvrtc-builtins.so.* "$1/lib/"
  cp wheel/nvidia_cuda_nvrtc-*.dist-info/licenses/License.txt "$1/LICENSE"
}

# What products on the processor take of Intel's MKL, for blas:lib=mkl and native; ./dev setup mkl.
make_mkl() {
  pip_fetch mkl mkl
  unzip_wheel mkl wheel
  mkdir "$1/lib"
  mv wheel/mkl-*.data/data/lib/libmkl_{rt,core,def,avx2,avx512,avx10,gnu_thread,sequential,intel_lp64}.so.* "$1/lib/"
  mv wheel/mkl-*.data/data/lib/libmkl_vml_{def,avx2,avx512,avx10}.so.* "$1/lib/"
  cp wheel/mkl-*.dist-info/LICENSE.txt "$1/"
}

# Binds C++ to Python: headers, a few sources compiled into the extension, and the writer of type stubs.
make_nanobind() {
  pip_fetch nanobind nanobind
  unzip_wheel nanobind wheel
  mv wheel/nanobind/{cmake,include,src,ext,stubgen.py} "$1/"
  mv wheel/nanobind-*.dist-info/licenses "$1/"
}

# crate_fetch NAME VERSION: downloads a crate into ./cargo. Before 1.82 cargo does that only with all it depends on.
crate_fetch() {
  export CARGO_HOME="$PWD/cargo"
  cargo info --quiet "$1@$2" >/dev/null 2>&1 && return
  mkdir -p crate
  touch crate/lib.rs
  printf '[package]\nname = "fetch"\nversion = "0.0.0"\n[lib]\npath = "lib.rs"\n[dependencies]\n%s = "=%s"\n' "$1" "$2" \
    >crate/Cargo.toml
  cargo fetch --quiet --manifest-path crate/Cargo.toml >&2
}

# The sources of MNN come inside a Rust crate. A change to one header of them: what the library has to say goes to stderr
# instead of stdout, and only errors. Its own headers, its schema and the flatbuffers that read it are installed.
make_mnn() {
  command -v cargo >/dev/null || die "mnn: install cargo, which fetches the sources"
  local package version sha
  read -r _ package version _ sha < <(part_rows mnn)
  if [ ! -d source ]; then
    crate_fetch "$package" "$version"
    cp "$(find cargo/registry/cache -name "$package-$version.crate")" download/
    echo "$sha download/$package-$version.crate" | sha256sum --check --quiet -
    rm -rf source.part
    mkdir source.part
    tar xf "download/$package-$version.crate" -C source.part --strip-components=1
    sed -i -e 's/^#define MNN_PRINT(format, ...) printf(.*/#define MNN_PRINT(format, ...) ((void)0)/' \
      -e 's/^#define MNN_ERROR(format, ...) printf(/#define MNN_ERROR(format, ...) fprintf(stderr, /' \
      source.part/vendor/include/MNN/MNNDefine.h
    mv source.part source
  fi
  say "mnn: compiling, about fifteen minutes on one core"
  # Its assembler files do not say that they need no executable stack.
  cmake -S source/vendor -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS="-ffile-prefix-map=$PWD=mnn" \
    -DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_SHARED_LINKER_FLAGS=-Wl,-z,noexecstack \
    -DMNN_BUILD_SHARED_LIBS=ON -DMNN_SEP_BUILD=OFF -DMNN_AVX512=ON -DMNN_BUILD_TOOLS=OFF \
    >configure.log 2>&1 || { cat configure.log >&2; return 1; }
  cmake --build build --parallel "$JOBS" >compile.log 2>&1 || { tail -n 50 compile.log >&2; return 1; }
  mkdir "$1/lib"
  cp build/libMNN.so "$1/lib/"
  strip --strip-unneeded "$1/lib/libMNN.so"
  cp -r source/vendor/include "$1/include"
  cp -r source/vendor/schema/current "$1/include/schema"
  cp -r source/vendor/3rd_party/flatbuffers/include/flatbuffers "$1/include/"
  cp /usr/share/common-licenses/Apache-2.0 "$1/LICENSE"
}

# The text detector that `./dev demo` tunes.
make_demo_model() {
  pip_fetch demo-model rapidocr
  unzip_wheel rapidocr wheel
  cp wheel/rapidocr/models/PP-OCRv6_det_small.onnx wheel/rapidocr-*.dist-info/licenses/* "$1/"
}

# Python for tests and the demo only; the product needs none.
make_python() { make_environment python "$1"; }

# TVM, which tunes kernels in a process of its own; a newer apache-tvm-ffi crashes. onnx is for the rival; ./dev setup tvm.
make_tvm() { make_environment tvm "$1"; }

# Validates bills of materials of a release.
make_spdx() { make_environment spdx "$1"; }

# What ./dev wheel needs.
make_wheel_tools() { make_environment wheel-tools "$1"; }

# The builder of the documentation's site, and a second reader of its Markdown.
make_site_tools() { make_environment site-tools "$1"; }

# make_environment PART FOLDER: a virtual environment with all rows of the part.
make_environment() {
  part_rows "$1" | awk '{ print $2 "==" $3 " --hash=sha256:" $5 }' >requirements.txt
  "$PYTHON" -m venv "$2"
  "$2/bin/python" -m pip install --disable-pip-version-check --no-deps --only-binary=:all: \
    --requirement requirements.txt >&2
}

# A client that tests talk to a server with; for the interpreter of `python`, through PYTHONPATH.
make_tritonclient() {
  local package
  for package in $(part_rows tritonclient | awk '{ print $2 }'); do
    pip_fetch tritonclient "$package"
    unzip_wheel "$package" "$1"
  done
}

# The official operator tests as files.
make_onnx_cases() {
  ensure_parts python
  "$(part_dir python)/bin/python" "$ROOT/tools/onnx_cases.py" "$1"
}

# Files that no import may accept.
make_hostile_cases() {
  ensure_parts python
  "$(part_dir python)/bin/python" -B "$ROOT/tools/hostile/catalogue.py" "$1"
}

# Static libraries; only the detection of processors is a shared one, as Debian 13 ships it.
make_xnnpack() {
  local name flags="-ffile-prefix-map=$PWD=xnnpack -I$PWD/needs/include"
  for name in xnnpack pthreadpool fxdiv; do [ -d "$name" ] || trixie_source_fetch xnnpack "$name" "$name"; done
  for name in libcpuinfo-dev libcpuinfo0; do
    trixie_fetch xnnpack "$name"
    dpkg-deb -x download/"$name"_*.deb cpuinfo
  done
  # Threads that wait for work keep a processor busy for milliseconds as it comes; other libraries have work for it.
  sed -i 's/SPIN_WAIT_ITERATIONS 1000000/SPIN_WAIT_ITERATIONS 2000/' pthreadpool/src/threadpool-common.h
  grep -q 'SPIN_WAIT_ITERATIONS 2000' pthreadpool/src/threadpool-common.h || die "xnnpack: its threads wait otherwise than expected"
  mkdir -p needs/include needs/lib
  cp cpuinfo/usr/include/cpuinfo.h fxdiv/include/fxdiv.h pthreadpool/include/pthreadpool.h needs/include/
  cp -P cpuinfo/usr/lib/x86_64-linux-gnu/libcpuinfo.so* needs/lib/
  local options=(-G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_POSITION_INDEPENDENT_CODE=ON
    -DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache
    -DCMAKE_C_FLAGS="$flags" -DCMAKE_CXX_FLAGS="$flags" -DFXDIV_SOURCE_DIR="$PWD/fxdiv")
  say "xnnpack: compiling, about eight minutes on one core"
  build_static pthreadpool "${options[@]}" -DPTHREADPOOL_LIBRARY_TYPE=static -DPTHREADPOOL_BUILD_TESTS=OFF \
    -DPTHREADPOOL_BUILD_BENCHMARKS=OFF -DFXDIV_BUILD_TESTS=OFF -DFXDIV_BUILD_BENCHMARKS=OFF
  cp build-pthreadpool/libpthreadpool.a needs/lib/
  build_static xnnpack "${options[@]}" -DXNNPACK_LIBRARY_TYPE=static -DXNNPACK_BUILD_TESTS=OFF \
    -DXNNPACK_BUILD_BENCHMARKS=OFF -DXNNPACK_BUILD_ALL_MICROKERNELS=OFF -DXNNPACK_USE_SYSTEM_LIBS=ON \
    -DCPUINFO_SOURCE_DIR="$PWD/needs" -DPTHREADPOOL_SOURCE_DIR="$PWD/needs" -DFXDIV_HDR="$PWD/needs/include/fxdiv.h" \
    -DCPUINFO_LIBRARY="$PWD/needs/lib/libcpuinfo.so.0" -DPTHREADPOOL_LIBRARY="$PWD/needs/lib/libpthreadpool.a"
  mkdir -p "$1/lib" "$1/include" "$1/licenses"
  cp build-xnnpack/libXNNPACK.a build-xnnpack/libmicrokernels-prod.a needs/lib/libpthreadpool.a "$1/lib/"
  cp -P needs/lib/libcpuinfo.so* "$1/lib/"
  cp xnnpack/include/*.h pthreadpool/include/pthreadpool.h "$1/include/"
  for name in xnnpack pthreadpool fxdiv; do cp "$name/LICENSE" "$1/licenses/LICENSE.$name"; done
  cp cpuinfo/usr/share/doc/libcpuinfo0/copyright "$1/licenses/LICENSE.cpuinfo"
}

# build_static SOURCE OPTIONS...: into build-SOURCE.
build_static() {
  local source="$1" log="configure-$1.log"
  shift
  cmake -S "$source" -B "build-$source" "$@" >"$log" 2>&1 || { cat "$log" >&2; return 1; }
  cmake --build "build-$source" --parallel "$JOBS" >&2
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  set -euo pipefail
  source "$(dirname "$0")/common.sh"
  cd "$2"
  "make_${1//-/_}" "$2/out"
fi
