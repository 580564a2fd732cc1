# What a person sees. A step is one line: while it runs its seconds count, on a terminal with the last line of its log.

if [ -t 1 ] && [ "${TERM-dumb}" != dumb ]; then
  columns=$(tput cols 2> /dev/null || echo 80)
  on_terminal=1 bold=$'\e[1m' dim=$'\e[2m' green=$'\e[32m' red=$'\e[31m' plain=$'\e[0m' clear_line=$'\r\e[K'
else
  on_terminal='' bold='' dim='' green='' red='' plain='' clear_line=''
fi

heading() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
say() { printf '%s\n' "$*"; }

# fail WHAT [REMEDY]: one line each, on standard error, exit 1.
fail() {
  printf '%serror:%s %s\n' "$red" "$plain" "$1" >&2
  [ $# -lt 2 ] || printf '       %s\n' "$2" >&2
  exit 1
}

fail_usage() {
  printf '%serror:%s %s\n' "$red" "$plain" "$1" >&2
  exit 2
}

# step TITLE LOG COMMAND...: run a command with its output in .ros/log/LOG.log, showing one line of progress.
# Returns the command's status. `step_summary`, if set, is a function of the log file that names the result.
step() {
  local title=$1 log=$log_dir/$2.log started=$SECONDS seconds beat=30 room=$((${columns:-80} - 48)) last status=0 mark
  shift 2
  mkdir -p "$log_dir"
  start_child "$@" > "$log" 2>&1
  while child_runs; do
    seconds=$((SECONDS - started))
    if [ -n "$on_terminal" ]; then
      last=$(tail -c 400 "$log" | tr '\r' '\n' | grep -v '^ *$' | tail -n 1)
      printf '%s  … %-30s %4d s  %s%s%s' "$clear_line" "$title" "$seconds" "$dim" "${last:0:$((room > 0 ? room : 0))}" "$plain"
    elif ((seconds >= beat)); then
      printf '  … %-30s %4d s\n' "$title" "$seconds"
      beat=$((beat + 30))
    fi
    sleep 0.2
  done
  wait_child || status=$?
  mark=$green✓
  ((status == 0)) || mark=$red✗
  printf '%s  %s%s %-30s %4d s  %s\n' "$clear_line" "$mark" "$plain" "$title" $((SECONDS - started)) "$(${step_summary:-true} "$log")"
  return "$status"
}

# show_failure LOG: what a person needs of a failed step's log.
show_failure() {
  local log=$log_dir/$1.log
  printf '\n'
  if grep -qE '^(error|failures:|=+ (FAILURES|ERRORS) =+)' "$log"; then
    awk '/^(error|failures:|=+ (FAILURES|ERRORS) =+)/ { on = 1 } on && n++ < 150' "$log"
  else
    tail -n 40 "$log"
  fi
  printf '\n%sall of it: %s%s\n' "$dim" "${log#"$root"/}" "$plain"
}
