# ROS 2, in this order: the one that is sourced; the one in /opt/ros; a private one under .ros/.
#
#   .ros/jazzy      the private ROS 2 (packages/dev/ros_prefix), present only where there was no other
#   .ros/install    the interface packages that were missing, karakuri_msgs, and karakuri itself

jazzy=$state/jazzy
install=$state/install

# have KIND NAME: is it in the ament index?
have() {
  local prefix IFS=:
  for prefix in ${AMENT_PREFIX_PATH-}; do
    [ ! -e "$prefix/share/ament_index/resource_index/$1/$2" ] || return 0
  done
  return 1
}

# Takes our own folders out of a path, so that running inside `./dev shell` starts from the same ground.
without_ours() {
  local entry result='' IFS=:
  for entry in ${!1-}; do
    case $entry in "$state"/* | '') ;; *) result+=${result:+:}$entry ;; esac
  done
  export "$1=$result"
  [ -n "$result" ] || unset "$1"
}

# A script of a foreign ROS 2 reads unset variables and may return non-zero.
source_foreign() {
  set +eu
  . "$1"
  set -eu
}

find_ros() {
  local variable candidates
  for variable in AMENT_PREFIX_PATH CMAKE_PREFIX_PATH LD_LIBRARY_PATH PYTHONPATH PATH; do without_ours "$variable"; done
  case ${LIBCLANG_PATH-} in "$state"/*) unset LIBCLANG_PATH ROS_DISTRO ;; esac
  if have packages rcl && [ -n "${ROS_DISTRO-}" ]; then
    ros_origin='sourced'
    need_distribution
    return
  fi
  mapfile -t candidates < <(compgen -G "/opt/ros/${ROS_DISTRO:-*}/setup.bash" | grep -vE '/(humble|kilted)/')
  if [ ${#candidates[@]} -eq 1 ]; then
    source_foreign "${candidates[0]}"
    ros_origin=${candidates[0]%/setup.bash}
    return
  fi
  ros_origin='private'
}

# Those that are known not to do; under /opt/ros they are passed over.
need_distribution() {
  local problem
  case $ROS_DISTRO in
    humble) problem='its control_msgs lack fields of JointTrajectoryControllerState' ;;
    kilted) problem='the client library r2r does not build on it' ;;
    *) return 0 ;;
  esac
  fail "ROS 2 $ROS_DISTRO, which is sourced, cannot be used: $problem." \
    'source Jazzy instead, or nothing: in a shell without ROS 2 a private one is made'
}

locked_hash() { sha256sum < "$root/packages/dev/ros_prefix/requirements.lock" | cut -c1-16; }

# Complete, of this version, and made here: its scripts and CMake files hold its path, so one that was moved or copied is rebuilt.
private_ros_is_here() {
  [ "$(cat "$jazzy/.complete" 2> /dev/null)" = "$(locked_hash)" ] && grep -qsF "PREFIX_PATH=\"$jazzy\${" "$jazzy/setup.sh"
}

make_private_ros() {
  ! private_ros_is_here || return 0
  need_architecture
  need_python
  need_disk 2 "$state"
  heading 'Setting up a private ROS 2 Jazzy (once)'
  step 'ROS 2 packages' ros_prefix "$root/packages/dev/ros_prefix/bootstrap.sh" "$jazzy" "$python" || {
    blame ros_prefix 'what was downloaded is kept'
    show_failure ros_prefix
    fail 'The private ROS 2 could not be set up.' 'run the same command again; what was downloaded is kept'
  }
}

# Interface packages: those that this ROS 2 lacks, and always our own. C++ programs need type supports of their own; a ROS 2 without
# rclcpp, as the private one, has no such programs.
make_interfaces() {
  local source packages=("$root/packages/ros/karakuri_msgs") cpp=''
  ! have packages rclcpp || cpp=--cpp
  for source in "$root"/packages/dev/ros_prefix/interfaces/*/; do
    source=${source%/}
    have rosidl_interfaces "${source##*/}" || packages+=("$source")
  done
  [ "$(interfaces_stamp "${packages[@]}")" != "$(cat "$install/.complete" 2> /dev/null)" ] || return 0
  command -v cmake > /dev/null || fail 'cmake is not installed.' "$(install_with cmake cmake)"
  rm -f "$install/.complete"
  step 'interface packages' interfaces "$root/packages/dev/ros_prefix/overlay.sh" ${cpp:+"$cpp"} "$install" "${packages[@]}" || {
    blame interfaces 'packages that were built are kept'
    show_failure interfaces
    fail 'The interface packages could not be built.' 'run the same command again; packages that were built are kept'
  }
  interfaces_stamp "${packages[@]}" > "$install/.complete"
}

# Reads `cpp` of its caller.
interfaces_stamp() {
  { echo "$AMENT_PREFIX_PATH$cpp"; printf '%s\n' "$@"; find "$@" -type f -print0 | sort -z | xargs -0 cat; } | sha256sum | cut -c1-16
}

# prepend VARIABLE DIRECTORY
prepend() {
  case :${!1-}: in *":$2:"*) ;; *) export "$1=$2${!1:+:${!1}}" ;; esac
}

# The one place that sets what ROS 2 programs, and the compilation of r2r, see.
ros_environment() {
  local site
  prepend AMENT_PREFIX_PATH "$install"
  prepend CMAKE_PREFIX_PATH "$install"
  prepend LD_LIBRARY_PATH "$install/lib"
  site=$(python3 -c 'import sys; print("lib/python%d.%d/site-packages" % sys.version_info[:2])')
  prepend PYTHONPATH "$install/$site"
  prepend PATH "$install/lib/karakuri"
  # What r2r makes Rust modules of. It compiles again when a watched variable changes but does not look at the messages
  # themselves: the last entry, which names no package, tells it that they changed.
  IDL_PACKAGE_FILTER=$(paste -sd ';' "$root/packages/ros/karakuri/message_packages.txt")\;$(cat "$install/.complete")
  export IDL_PACKAGE_FILTER
  unset CMAKE_IDL_PACKAGES
}

# Everything above, one process at a time.
with_ros() {
  mkdir -p "$state"
  need_rust
  need_compiler
  find_ros
  exec 9> "$state/lock"
  if ! flock -n 9; then
    say 'waiting for another ./dev that is setting up ...'
    flock 9
  fi
  if [ "$ros_origin" = private ]; then
    make_private_ros
    . "$jazzy/setup.sh"
  fi
  make_interfaces
  exec 9>&-
  ros_environment
  need_libclang
}

# bindgen, which compiles r2r, loads libclang; the private ROS 2 brings it along.
need_libclang() {
  [ -z "${LIBCLANG_PATH-}" ] || return 0
  ldconfig -p 2> /dev/null | grep -q 'libclang[-.]' || compgen -G '/usr/lib/llvm-*/lib/libclang*.so*' > /dev/null ||
    fail 'libclang is not installed; the ROS 2 client library needs it to compile.' "$(install_with libclang-dev clang-devel)"
}

# A ROS domain for this run alone, and its logs beside ours. The lock of the domain's file is held until this script and all that it
# started have ended; tests take theirs in the same way (tests/support/domain.py).
separate_ros() {
  local domain lock
  for domain in $(shuf -i 1-101); do
    { exec {lock}> "${TMPDIR:-/tmp}/karakuri-domain-$domain.lock"; } 2> /dev/null || continue # another user's
    ! flock -n "$lock" || break
    exec {lock}>&-
    lock=''
  done
  [ -n "${lock-}" ] || fail 'All ROS domains from 1 to 101 are in use.' "end other runs; what they hold: ${TMPDIR:-/tmp}/karakuri-domain-*.lock"
  export ROS_DOMAIN_ID=$domain ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST ROS_LOG_DIR=$log_dir/nodes
  mkdir -p "$ROS_LOG_DIR"
  find "$ROS_LOG_DIR" -type f -mtime +1 -delete
}
