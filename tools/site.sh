#!/usr/bin/env bash
# ./dev site: the documentation as a site in build/site, checked: navigation, links, command lines,
# how the pages read; and with what ./dev browser installs, whether everybody can use them. The
# program's help is part of it: that of build/dev, or of another PRESET, which is built where it is
# missing. SHOTS=FOLDER keeps pictures of the pages.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tools/common.sh
source tools/packages.sh
source tools/parts.sh
source tools/build.sh

preset="${PRESET:-dev}"
collage="build/$preset/bin/collage"
package="build/$preset/python/collage"
work=build/site-work
failed=0

# check COMMAND...: goes on after a finding, so that one run shows all.
check() { "$@" || failed=1; }

# make_pages: Markdown and what the theme needs, in $work/pages.
make_pages() {
  local made="$work/pages/reference"
  mkdir -p "$made" "$work/pages/assets"
  cp tools/site/zensical.toml "$work/"
  cp tools/site/theme/* "$work/pages/assets/"
  doxygen tools/site/Doxyfile
  "$PYTHON" tools/site/header_pages.py "$work/xml" "$made"
  "$PYTHON" tools/site/command_page.py "$collage" "$made/commands.md"
  "$PYTHON" tools/site/schema_page.py docs/schemas "$made/json.md"
  "$PYTHON" tools/site/python_page.py "$package" "$made/python.md"
  check "$PYTHON" tools/site/gather_pages.py tools/site/zensical.toml "$work"
}

# check_in_browser: 77 means skipped.
check_in_browser() {
  local status=0
  command -v node >/dev/null ||
    { echo "skipped: pages in a browser: no node; ./dev browser installs it"; return; }
  node tools/site/check_pages.mjs build/site || status=$?
  [ "$status" = 77 ] || return "$status"
}

ensure_packages
command -v doxygen >/dev/null || install_packages doxygen
ensure_parts site-tools
[ -x "$collage" ] || build_targets "$preset" collage
[ -d "$package" ] || package=python/collage
python="$(part_dir site-tools)/bin/python"

rm -rf "$work" build/site
make_pages
(cd "$work" && NO_COLOR=1 "$python" -m zensical build >&2)
rm "$work/site/404.html" # its links hold only at the top of a server
mv "$work/site" build/site

check "$PYTHON" tools/site/check_links.py build/site
check "$python" tools/site/check_reading.py "$work/pages" build/site
check "$PYTHON" tools/check_commands.py --count "$collage"
check check_in_browser
say "the site is build/site/index.html"
exit "$failed"
