#!/usr/bin/env bash
# ./dev browser: what the test that opens pages in a browser needs: Debian's chromium, and two packages of npm for driving
# it and for checking accessibility. Without them that test is skipped.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tools/common.sh

command -v chromium >/dev/null && command -v npm >/dev/null ||
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 install -q -y --no-install-recommends \
    chromium nodejs npm >&2
npm install --prefix "$COLLAGE_PREFIX/browser" --no-audit --no-fund --silent playwright-core@1.65.1 axe-core@4.14.1
say "ready: ./dev test api/tune -- -R Browser"
