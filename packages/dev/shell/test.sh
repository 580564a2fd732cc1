# ./dev test and ./dev lint.

help_test() {
  cat << 'S'
usage: ./dev test [--lint] [STAGE...]

Builds everything and runs every test (rust, page, system), or only the given stages:

  quick    the fast part: rust without what takes seconds, and the system tests of four nodes and of a walk
  rust     libraries, the offline program, the ROS layer, the nodes (cargo test)
  page     the page of the motion studio (vitest), and stories of its use in Chromium (Playwright); named as skipped without one
  system   running nodes, seen by rclpy clients (pytest in tests/); files beside each other where pytest-xdist is installed,
           then emulated buses and clients of the Model Context Protocol, and, alone, what runs against the clock
  builds   the physics compiled a second time, with other settings, gives the same bits (only when asked for: minutes)

With --lint it runs `./dev lint`, too, beside the running nodes, on processors that they leave idle.

Property tests draw the same cases every time; PROPTEST_RNG_SEED=N draws others, PROPTEST_CASES=N more.

The last line is `N passed, N failed`, with the number of skipped tests if there are any. Exit 0 only if none failed.
S
}

# Tests that take seconds, which `quick` leaves out.
slow=(
  a_cancel_in_any_stage_ends_at_rest
  a_grip_too_weak_for_the_cube_says_so_however_late_its_targets_are
  a_post_beside_one_finger_is_blocked
  a_robot_walks_across_a_slope
  a_slippery_cube_is_gripped_harder
  a_stall_on_the_way_aborts_no_motion
  a_stall_while_closing_does_not_strike
  a_step_catches_a_push
  all_families_of_the_study_are_found
  any_start_leads_to_a_motion_that_repeats
  both_robots_walk_on_slopes
  by_the_divergent_component_they_walk_as_far
  dropped_stones_rest_on_a_box
  dropped_stones_rest_on_a_bumpy_height_field
  dropped_stones_rest_on_a_height_field
  dropped_stones_rest_on_a_mesh
  dropped_stones_rest_on_the_ground
  full_dynamics_see_the_prescribed_zmp
  huge_velocities_are_stepped_or_refused_by_name
  late_targets_while_closing_do_not_strike
  restore_and_step_is_bit_equal_in_a_thousand_worlds_of_robots_and_bodies
  the_ledger_of_every_scene_closes
  the_main_family_goes_through_all_masses
  the_page_of_walks_is_current
)

passed=0 failed=0 skipped=0

# Adds up what a stage's log says; a stage that broke off counts as one failure.
count() {
  local log=$log_dir/$1.log status=$2 p f s
  if grep -q '^test result:' "$log"; then
    read -r p f s < <(awk '/^test result:/ { p += $4; f += $6; s += $8 } END { print p + 0, f + 0, s + 0 }' "$log")
  else
    read -r p f s < <(tail -n 1 "$log" | awk '
      { for (i = 2; i <= NF; i++) n[$i] = $(i - 1)
        gsub(/,/, ""); for (i = 2; i <= NF; i++) n[$i] = $(i - 1)
        print n["passed"] + 0, n["failed"] + n["error"] + n["errors"] + 0, n["skipped"] + n["xfailed"] + 0 }')
  fi
  ((status == 0 || f > 0)) || f=1
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

summary() { printf '%d passed, %d failed' "$1" "$2"; (($3 == 0)) || printf ', %d skipped' "$3"; }

# stage TITLE LOG COMMAND...
stage() {
  local status=0 before=("$passed" "$failed" "$skipped")
  heading "$1"
  step 'run' "${@:2}" || status=$?
  count "$2" "$status"
  ((status == 0)) || show_failure "$2"
  # what did not run is named
  grep -E '^(test .* \.\.\. ignored|SKIPPED|XFAIL)' "$log_dir/$2.log" | sed 's/^/    /' || true
  say "    $(summary $((passed - before[0])) $((failed - before[1])) $((skipped - before[2])))"
}

# All but the examples, which `./dev lint` checks.
test_rust() {
  local status=0
  cargo test --release --no-fail-fast --workspace --lib --bins --tests || status=$?
  cargo test --release --no-fail-fast --workspace --doc || status=$?
  return "$status"
}

# pytest_stage TITLE LOG MARKERS [OPTIONS...]
pytest_stage() {
  stage "$1" "$2" python3 -m pytest -ra --durations=25 --color=no -o cache_dir="$state/pytest" -m "$3" "${@:4}" tests
}

# Options that run tests beside each other, if there is what does it: one more than two processors, because nodes wait for each other.
# Nodes go in the order and the groups of tests/conftest.py. Of buses each test takes a tenth of a processor, but a whole one while it
# starts.
find_pytest() {
  python3 -c 'import pytest' 2> /dev/null || fail 'pytest is not installed.' "$(install_with python3-pytest python3-pytest)"
  beside=() buses=()
  python3 -c 'import xdist' 2> /dev/null || return 0
  local workers=$(($(nproc) < 3 ? $(nproc) + 1 : 4))
  beside=(-n "$workers" --dist loadgroup --no-loadscope-reorder)
  buses=(-n "$workers" --dist load)
}

# On processors that would be idle, as if by another person: its session is the last whose programs get one (`man sched`, autogroups),
# and its environment what this program was started with, without the ROS 2 that has been sourced since.
start_lint() {
  mkdir -p "$log_dir"
  # shellcheck disable=SC2016
  env -i setsid bash -c '. "$1"; echo 19 > /proc/self/autogroup; chrt --idle --pid 0 $$ || renice -n 19 $$; exec "$2" lint' \
    lint "$state/environment" "$root/dev" < /dev/null > "$log_dir/lint.log" 2>&1 &
  linter=$!
}

finish_lint() {
  heading 'lint: the rest of it'
  step 'run' lint_rest tail --pid="$linter" -f /dev/null
  if wait "$linter"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
  cat "$log_dir/lint.log"
  linter=''
}

dev_test() {
  local linter=''
  if [ "${1-}" = --lint ]; then
    linter=due
    shift
    mkdir -p "$state"
    export -p > "$state/environment"
  fi
  local stages=("$@") name started=$SECONDS beside buses tests=()
  for name; do
    case $name in quick | rust | page | system | builds) ;; *) help_test >&2; fail_usage "there is no stage \`$name\`" ;; esac
  done
  [ $# -gt 0 ] || stages=(rust page system)
  with_ros
  [[ " ${stages[*]} " != *" system "* && " ${stages[*]} " != *" quick "* ]] || find_pytest
  heading 'build'
  [[ " ${stages[*]} " != *" rust "* && " ${stages[*]} " != *" quick "* ]] || tests=(--tests)
  build "${tests[@]}"
  [[ " ${stages[*]} " != *" system "* ]] || make_clients
  separate_ros
  export PROPTEST_RNG_SEED=${PROPTEST_RNG_SEED-1}
  for name in "${stages[@]}"; do
    case $name in
      rust) stage 'rust: libraries, program, ROS layer, nodes' test_rust test_rust ;;
      builds) stage 'builds: the same bits from a second build' test_builds "$root/packages/dev/shell/builds.sh" ;;
      page)
        if page_is_built; then
          stage 'page: units' test_page test_page
          stage 'page: stories in a browser' test_browser test_browser stories
          stage 'page: times in a browser' test_browser_times test_browser timed --workers 1
        else
          heading 'page: skipped, it is not built'
          skipped=$((skipped + 1))
        fi
        ;;
      system)
        [ -z "$linter" ] || start_lint
        pytest_stage 'system: running nodes' test_system 'not (realtime or bus or mcp)' "${beside[@]}"
        [ -z "$linter" ] || finish_lint
        pytest_stage 'system: emulated buses' test_buses bus "${buses[@]}"
        pytest_stage 'system: protocol clients' test_mcp mcp "${beside[@]}"
        pytest_stage 'system: against the clock' test_realtime realtime
        ;;
      quick)
        stage 'rust: what is fast of it' test_quick_rust cargo test --release --no-fail-fast --workspace --lib --bins --tests -- "${slow[@]/#/--skip=}"
        pytest_stage 'system: four nodes and a walk' test_quick_system quick "${beside[@]}"
        ;;
    esac
  done
  if [ "$linter" = due ]; then
    start_lint
    finish_lint
  fi
  printf '\n%s\n' "${dim}$((SECONDS - started)) s; logs in ${log_dir#"$root"/}${plain}"
  summary "$passed" "$failed" "$skipped"
  echo
  ((failed == 0))
}

help_lint() {
  cat << 'S'
usage: ./dev lint

Checks formatting (rustfmt), lints (clippy, warnings are errors), documentation (rustdoc), that Cargo.lock is up to date, the page
of the studio (biome, svelte-check) where it is built, and the house rules (xtask tidy). Hints about the subjects of the newest commits fail nothing.
S
}

dev_lint() {
  [ $# -eq 0 ] || fail_usage "\`./dev lint\` takes no arguments, got \`$1\`"
  local bad=0
  with_ros
  heading 'lint'
  cargo_step 'formatting' lint_format fmt --all --check || bad=1
  cargo_step 'lock file' lint_lock metadata --locked --format-version 1 || bad=1
  cargo_step 'clippy' lint_clippy clippy --release --workspace --all-targets -- -D warnings || bad=1
  RUSTDOCFLAGS='-D warnings' cargo_step 'documentation' lint_documentation doc --release --workspace --lib --no-deps || bad=1
  if page_is_built; then
    step 'page' lint_page lint_page || { show_failure lint_page; bad=1; }
  fi
  # What `./dev build` made, if it is of these sources: for this one package cargo compiles what it depends on with other features.
  if [ -x "$target/xtask" ] && [ -z "$(find packages Cargo.lock \( -name '*.rs' -o -name 'Cargo.*' \) -newer "$target/xtask" -print -quit)" ]; then
    step 'house rules' lint_tidy "$target/xtask" tidy || { show_failure lint_tidy; bad=1; }
  else
    cargo_step 'house rules' lint_tidy run --quiet --release -p xtask -- tidy || bad=1
  fi
  # a hint fails nothing
  grep '^hint: ' "$log_dir/lint_tidy.log" || true
  if ((bad)); then
    say "${red}lint failed${plain}"
    return 1
  fi
  say 'lint passed'
}
