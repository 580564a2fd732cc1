# One child at a time, in a process group of its own, so that whatever ends this script ends all of it.
#
# Programs may put their own children into further groups. Each run therefore carries a mark in its environment,
# and what still carries it at the end is stopped by that.

export KARAKURI_RUN=${KARAKURI_RUN:+$KARAKURI_RUN:}$$.$RANDOM$RANDOM
child=''

start_child() {
  set -m # a group of its own, and no ignored SIGINT
  "$@" < /dev/null &
  child=$!
  set +m
}

child_runs() { [ -n "$child" ] && kill -0 "$child" 2> /dev/null; }

wait_child() {
  local status=0
  wait "$child" || status=$?
  child=''
  return "$status"
}

# Processes that carry this run's mark: all that were started since, by whomever; never this script itself.
marked() {
  local file pid
  for file in $(grep -slzF "KARAKURI_RUN=$KARAKURI_RUN" /proc/[0-9]*/environ); do
    pid=${file//[!0-9]/}
    [ ! -e "/proc/$pid" ] || echo "$pid" # the search has found itself, too
  done
}

# signal_marked SIGNAL: returns 1 when nobody is left.
signal_marked() {
  local pids
  pids=$(marked)
  [ -n "$pids" ] || return 1
  # shellcheck disable=SC2086
  kill -s "$1" $pids 2> /dev/null || true
}

stop_children() {
  local tries
  if child_runs; then
    kill -INT -- "-$child" 2> /dev/null || true
    for ((tries = 0; tries < 100; tries++)); do
      child_runs || break
      sleep 0.1
    done
  fi
  for signal in TERM KILL; do
    signal_marked "$signal" || return 0
    for ((tries = 0; tries < 30; tries++)); do
      [ -n "$(marked)" ] || return 0
      sleep 0.1
    done
  done
}

interrupted() {
  trap '' INT TERM HUP
  printf '\nstopping ...\n'
  stop_children
  exit "$1"
}

trap 'interrupted 130' INT
trap 'interrupted 143' TERM
trap 'interrupted 129' HUP
trap stop_children EXIT
