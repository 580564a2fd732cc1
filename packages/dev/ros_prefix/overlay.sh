#!/usr/bin/env bash
# Builds interface packages on top of the sourced ROS 2:   overlay.sh [--cpp] OVERLAY PACKAGE_DIR...
#
# With --cpp as `colcon build` does; without it what C, Rust and Python need of them, in a third of the time.
#
# Each package is configured, built and installed into OVERLAY, two at a time: CMake's configuration is serial and takes
# most of the time. A package whose files, compiler and ROS 2 are unchanged is left alone (OVERLAY/.stamps), so an
# interrupted run goes on where it stopped. Packages that depend on others of them are built after all that do not.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
project_include=$here/c_type_supports.cmake
if [ "$1" = --cpp ]; then
  project_include=''
  shift
fi
overlay=$(realpath -m "$1")
shift
mkdir -p "$overlay/.build" "$overlay/.stamps"

python=$(command -v python3)
python_dir=lib/python$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')/site-packages
generator=()
command -v ninja > /dev/null && generator=(-G Ninja)

# What a package's build depends on beside the tools: its files, the ROS 2 below, and which type supports it gets.
fingerprint() {
  { find "$1" ${project_include:+"$project_include"} -type f -print0 | sort -z | xargs -0 sha256sum; echo "$AMENT_PREFIX_PATH $python_dir $project_include"; } | sha256sum | cut -c1-16
}

build() {
  local source=$1 name stamp cache started=$SECONDS
  name=$(basename "$source")
  stamp=$(fingerprint "$source")
  [ "$(cat "$overlay/.stamps/$name" 2> /dev/null)" = "$stamp" ] && return 0
  rm -f "$overlay/.stamps/$name"
  # CMake refuses the cache of a checkout that was moved or copied since.
  cache=$overlay/.build/$name/CMakeCache.txt
  if ! { grep -qsxF "CMAKE_CACHEFILE_DIR:INTERNAL=$overlay/.build/$name" "$cache" &&
    grep -qsxF "CMAKE_HOME_DIRECTORY:INTERNAL=$(realpath "$source")" "$cache"; }; then
    rm -rf "${overlay:?}/.build/$name"
  fi
  {
    cmake -S "$source" -B "$overlay/.build/$name" "${generator[@]}" --no-warn-unused-cli -DCMAKE_PROJECT_INCLUDE="$project_include" \
      -DCMAKE_INSTALL_PREFIX="$overlay" -DPYTHON_INSTALL_DIR="$python_dir" -DPython3_EXECUTABLE="$python" \
      -DCMAKE_BUILD_TYPE=None -DBUILD_TESTING=OFF &&
      cmake --build "$overlay/.build/$name" --parallel &&
      cmake --install "$overlay/.build/$name"
  } > "$overlay/.build/$name.log" 2>&1 || {
    echo "failed: $name, see $overlay/.build/$name.log"
    tail -n 15 "$overlay/.build/$name.log"
    return 1
  }
  echo "$stamp" > "$overlay/.stamps/$name"
  echo "built: $name in $((SECONDS - started)) s"
}

# Whether a package depends on another of those that are given.
depends_on_given() {
  local source=$1 other
  for other in "${given[@]}"; do
    ! grep -qF "<depend>$(basename "$other")</depend>" "$source/package.xml" || return 0
  done
  return 1
}

build_all() {
  local package running=0 failed=0
  for package in "$@"; do
    if ((running == 2)); then
      wait -n || failed=1
      running=$((running - 1))
    fi
    build "$package" &
    running=$((running + 1))
  done
  for ((; running > 0; running--)); do wait -n || failed=1; done
  return "$failed"
}

given=("$@")
first=()
then=()
for package in "${given[@]}"; do
  if depends_on_given "$package"; then then+=("$package"); else first+=("$package"); fi
done
build_all "${first[@]}"
export CMAKE_PREFIX_PATH=$overlay${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH} AMENT_PREFIX_PATH=$overlay${AMENT_PREFIX_PATH:+:$AMENT_PREFIX_PATH}
build_all "${then[@]}"
