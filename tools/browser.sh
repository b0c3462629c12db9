#!/usr/bin/env bash
# ./dev browser: what tests that open pages in a browser need, those of reports and of the site: Debian's chromium, and two
# packages of npm for driving it and for checking accessibility. Without them these tests are skipped.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tools/common.sh
source tools/packages.sh

missing=()
command -v chromium >/dev/null || missing+=(chromium)
command -v npm >/dev/null || missing+=(nodejs npm)
[ ${#missing[@]} = 0 ] || install_packages "${missing[@]}"
npm install --prefix "$COLLAGE_PREFIX/browser" --no-audit --no-fund --silent playwright-core@1.65.1 axe-core@4.14.1
say "ready: ./dev test api/tune -- -R Browser, ./dev site"
