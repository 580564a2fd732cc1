#!/usr/bin/env bash
# What `./dev test builds` runs: compiles the physics a second time, whole crates at once and inlined by other rules, runs
# the same scenes full of contacts in both builds, and compares the bits of their states.
set -euo pipefail

log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT
test=(cargo test --release -p karakuri_physics --test benchmarks -- --nocapture builds::)

"${test[@]}" | tee "$log/first"
CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/second_build CARGO_PROFILE_RELEASE_CODEGEN_UNITS=1 \
  CARGO_PROFILE_RELEASE_OPT_LEVEL=2 "${test[@]}" | tee "$log/second"
for build in first second; do grep '^bits of ' "$log/$build" > "$log/$build.bits"; done
if diff "$log/first.bits" "$log/second.bits"; then
  echo "both builds give the same bits: $(wc -l < "$log/first.bits") hashes"
else
  echo 'the two builds give different bits'
  exit 1
fi
