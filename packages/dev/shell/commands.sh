# The commands of ./dev.

# Runs a program in the foreground of this script, which stays to clean up after it.
run() {
  start_child "$@"
  wait_child
}

help_build() {
  cat << 'S'
usage: ./dev build

Builds every executable into target/release and makes them known to ROS 2 tools: inside `./dev shell`,
`ros2 run karakuri sim` and `karakuri launch` find them and the files of launch/, config/ and urdf/.
S
}

dev_build() {
  [ $# -eq 0 ] || fail_usage "\`./dev build\` takes no arguments, got \`$1\`"
  with_ros
  build
  say "built: $(cd "$install/lib/karakuri" && ls | tr '\n' ' ')in ${target#"$root"/}"
}

help_demo() {
  local file
  cat << 'S'
usage: ./dev demo [NAME] [--headless] [ARGUMENTS]

Runs a demonstration in simulation and tells what happens. It opens no window (--headless is accepted for scripts)
and writes report and plots to out/demo/NAME. Exit 0 only if the task succeeded; Ctrl-C stops everything.
Further arguments go to the demonstration: `./dev demo pick_and_place --help`.

S
  echo 'demonstrations:'
  for file in "$root"/packages/dev/demos/*.py; do
    printf '  %-18s %s\n' "$(basename "$file" .py)" "$(sed -nE '1,5s/^"""(.*[^"])(""")?$/\1/p' "$file")"
  done
}

dev_demo() {
  local name=pick_and_place arguments=() argument
  if [ $# -gt 0 ] && [[ $1 != -* ]]; then
    name=$1
    shift
  fi
  for argument; do [ "$argument" = --headless ] || arguments+=("$argument"); done
  [ -e "packages/dev/demos/$name.py" ] || { help_demo >&2; fail_usage "there is no demonstration \`$name\`"; }
  with_ros
  build
  separate_ros
  mkdir -p "out/demo/$name"
  if [ "$name" = studio ] && page_is_built; then
    step 'programs for pictures' browser make_browser_tests || { show_failure browser; exit 1; }
    use_node
  fi
  run python3 "packages/dev/demos/$name.py" --out "out/demo/$name" "${arguments[@]}"
}

help_launch() {
  cat << 'S'
usage: ./dev launch FILE [ARGUMENT:=VALUE ...]

Builds, then runs a launch file with our own launcher. FILE is a path, or the name of a file in launch/ with or
without `.launch.xml`. Sets ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST unless it is set; ROS_DOMAIN_ID is left alone.
S
  echo
  echo 'launch files:'
  ls launch 2> /dev/null | sed -n 's/^\(.*\)\.launch\.xml$/  \1/p'
}

dev_launch() {
  [ $# -gt 0 ] || { help_launch >&2; exit 2; }
  local file=$1 candidate
  shift
  for candidate in "$file" "launch/$file" "launch/$file.launch.xml"; do
    [ ! -f "$candidate" ] || break
  done
  [ -f "$candidate" ] || { help_launch >&2; fail_usage "there is no launch file \`$file\`"; }
  with_ros
  build
  export ROS_AUTOMATIC_DISCOVERY_RANGE=${ROS_AUTOMATIC_DISCOVERY_RANGE:-LOCALHOST}
  run karakuri launch "$candidate" "$@"
}

help_shell() {
  cat << 'S'
usage: ./dev shell [COMMAND [ARGUMENTS]]

A shell, or one command, in which cargo, colcon, Python and the ROS 2 tools see what ./dev has set up.
It does not compile: run ./dev build for that. Sets ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST unless it is set, as ./dev launch does:
nodes that are started in it are heard on this machine only.
S
}

dev_shell() {
  with_ros
  trap - EXIT INT TERM HUP
  unset KARAKURI_RUN
  export ROS_AUTOMATIC_DISCOVERY_RANGE=${ROS_AUTOMATIC_DISCOVERY_RANGE:-LOCALHOST}
  [ $# -eq 0 ] || exec "$@"
  say "ROS 2 ${ROS_DISTRO} ($ros_origin); leave with \`exit\`"
  exec bash --rcfile <(cat ~/.bashrc 2> /dev/null; echo "PS1='(karakuri) '\$PS1") -i
}

help_bench() {
  cat << 'S'
usage: ./dev bench [--peers] [--turns N] [FILTER]
       ./dev bench --physics [LOG]

Times the rigid-body algorithms on real robots and the steps of whole scenes, and says how accurate those steps are.
FILTER, a regular expression, keeps what matches ALGORITHM/MODEL or step/SCENE, for instance `/(ur5|demo_held)$`.
With --peers Pinocchio and MuJoCo are installed under target/peers and measured in turn with ours; without a filter
the times in docs/benchmarks.md and their plots are then written again. All numbers go to out/bench/bench.json.
Each program takes --turns turns, 3 by default, and its fastest counts; all of it with --peers takes about 12 min.

With --physics the physics benchmarks run, a few minutes, and their section of docs/benchmarks.md, a plot of each beside the numbers
that other engines published, is written again; LOG, what such a run printed, is read in place of one.
S
}

dev_bench() {
  need_rust
  need_compiler
  need_python
  if [ "${1-}" = --physics ]; then
    shift
    run "$python" "$root/packages/dev/peers/physics.py" "$@"
    return
  fi
  run "$python" "$root/packages/dev/peers/bench.py" "$@"
}
