# What the machine must have; each lack is one line with its remedy.

# How to install a package here, as a sentence.
install_with() {
  local sudo=''
  [ "$(id -u)" = 0 ] || sudo='sudo '
  if command -v apt-get > /dev/null; then
    echo "${sudo}apt-get install -y $1"
  elif command -v dnf > /dev/null; then
    echo "${sudo}dnf install -y $2"
  else
    echo "install $1 with the system's package manager"
  fi
}

need_rust() {
  mkdir -p "$state"
  command -v cargo > /dev/null || {
    [ -x "$HOME/.cargo/bin/cargo" ] && PATH=$HOME/.cargo/bin:$PATH
  }
  command -v cargo > /dev/null ||
    fail 'Rust is not installed.' "curl --proto '=https' -sSf https://sh.rustup.rs | sh -s -- -y   (then open a new shell)"
  local version minor
  version=$(cargo --version 2> "$state/cargo-version") ||
    fail "cargo does not start: $(tail -n 1 "$state/cargo-version")" 'rustup toolchain install  (in this folder; needs the network)'
  minor=${version#cargo 1.}
  minor=${minor%%.*}
  [ "$minor" -ge 89 ] || fail "Rust 1.89 or newer is needed, this is ${version#cargo }." 'rustup update'
}

need_compiler() {
  local tool
  for tool in cc c++; do
    command -v "$tool" > /dev/null ||
      fail "There is no C++ compiler (\`$tool\`)." "$(install_with build-essential gcc-c++)"
  done
}

# need_disk GB FOLDER: the folder need not exist yet.
need_disk() {
  local folder=$2 free
  while [ ! -d "$folder" ]; do folder=$(dirname "$folder"); done
  free=$(df -Pk "$folder" | awk 'NR == 2 { print int($4 / 1048576) }')
  [ "$free" -ge "$1" ] || fail "The disk of $folder has $free GB free, $1 GB are needed." 'free some room, or move the checkout'
}

# blame LOG KEPT: ends with the cause of a failed step where it is not ours: the disk or the network. KEPT says what the
# next try goes on from.
blame() {
  local log=$log_dir/$1.log again="then run the same command again; $2 (log: ${log_dir#"$root"/}/$1.log)"
  if grep -qE 'No space left on device|Disk quota exceeded|os error 28' "$log"; then
    fail 'The disk is full.' "free some room, $again"
  elif grep -qE 'NewConnectionError|NameResolutionError|ReadTimeout|ConnectionError|ProxyError|SSLError|from versions: none' "$log"; then
    fail 'The Python package index (pypi.org) cannot be reached.' "check the network, or set PIP_INDEX_URL to a mirror; $again"
  elif grep -qE "Could(n't| not) resolve|failed to download|spurious network error|Unable to update registry|attempting to make an HTTP request" "$log"; then
    fail 'crates.io cannot be reached.' "check the network, $again"
  fi
}

# Sets $python to the first interpreter that can carry the private ROS 2.
need_python() {
  local candidate problem='' found=''
  for candidate in python3 python3.12 python3.13 python3.11 python3.10; do
    command -v "$candidate" > /dev/null || continue
    # the shim of a version manager may stand for nothing
    found=$("$candidate" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2> /dev/null) || {
      problem=${problem:-"$candidate does not start.|$candidate --version  (says why)"}
      continue
    }
    case $found in
      3.10 | 3.11 | 3.12 | 3.13) ;;
      *) problem=${problem:-"Python $found is not among 3.10 to 3.13, which ROS 2 has packages for.|$(install_with 'python3.12 python3.12-venv python3.12-dev' python3.12-devel), or uv python install 3.12"}; continue ;;
    esac
    if ! "$candidate" -c 'import venv, ensurepip' 2> /dev/null; then
      problem="Python $found has no venv module.|$(install_with "python$found-venv" "python$found")"
    elif ! "$candidate" -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))'; then
      problem="Python $found has no headers (Python.h).|$(install_with "python$found-dev" "python$found-devel")"
    else
      python=$candidate
      return 0
    fi
  done
  [ -n "$problem" ] || problem="Python 3 is not installed.|$(install_with 'python3 python3-venv python3-dev' python3-devel)"
  fail "${problem%%|*}" "${problem##*|}"
}

need_architecture() {
  [ "$(uname -sm)" = 'Linux x86_64' ] ||
    fail "The private ROS 2 exists for Linux on x86-64 only, this is $(uname -sm)." 'source a ROS 2 of your own first: . /opt/ros/jazzy/setup.bash'
  case $(getconf GNU_LIBC_VERSION 2> /dev/null || echo none) in
    none | 'glibc 2.'[0-9] | 'glibc 2.1'? | 'glibc 2.2'[0-7])
      fail 'The private ROS 2 needs the GNU C library 2.28 or newer.' 'source a ROS 2 of your own first: . /opt/ros/jazzy/setup.bash' ;;
  esac
}
