#!/usr/bin/env bash
# ./dev lint: every check that needs no build. Prints one line a check; fails when any does.
# With COLLAGE_LINT_REPORT=FILE it also writes "passed NAME" or "failed NAME" lines there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tools/common.sh
source tools/packages.sh
source tools/parts.sh
source tools/build.sh

ensure_packages
report="${COLLAGE_LINT_REPORT:-/dev/null}"
: >"$report"
failed=0

check() {
  local name="$1"
  shift
  if "$@"; then
    echo "passed $name" | tee -a "$report"
  else
    echo "failed $name" | tee -a "$report"
    failed=1
  fi
}

# Names the files only; ./dev format mends them.
check_format() {
  local wrong
  wrong="$(sources | xargs --no-run-if-empty clang-format --dry-run 2>&1 | sed -n 's/^\([^ :]*\):[0-9].*warning.*/\1/p' | sort -u)"
  [ -z "$wrong" ] || { printf '%s: run ./dev format\n' $wrong; return 1; }
}

# The program is asked for its commands where there is a build.
check_commands() {
  local collage="build/${PRESET:-dev}/bin/collage"
  [ -x "$collage" ] || collage=
  "$PYTHON" tools/check_commands.py $collage
}

# The analyser is older than the language standard: it gets the newest it knows and is told that concepts work.
check_tidy() {
  build dev
  mkdir -p build/tidy
  sed 's/-std=c++23/-std=c++2b/g' build/dev/compile_commands.json >build/tidy/compile_commands.json
  sources | grep '\.cpp$' | grep -v -e '^tests/support/' -e '^examples/' | xargs -P "$JOBS" -n 1 clang-tidy -p build/tidy --quiet \
    --extra-arg=-U__cpp_concepts --extra-arg=-D__cpp_concepts=202002L --extra-arg=-Wno-builtin-macro-redefined \
    --extra-arg=-Wno-macro-redefined --extra-arg=-Wno-unknown-warning-option 2>/dev/null
}

check layers "$PYTHON" tools/check_layers.py
check sources "$PYTHON" tools/check_sources.py
check docs "$PYTHON" tools/check_docs.py
check commands check_commands
check words "$PYTHON" tools/check_words.py
check glossary "$PYTHON" tools/check_glossary.py
check types "$PYTHON" tools/check_types.py
check schemas "$PYTHON" tools/check_schemas.py
check coverage "$PYTHON" tools/coverage.py --check
check package "$PYTHON" tools/check_package.py
check format check_format
if [ "${1:-}" = tidy ]; then check tidy check_tidy; fi
exit "$failed"
