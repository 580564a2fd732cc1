# Compiling, and the layout in which ROS tools find the result.

target=${CARGO_TARGET_DIR:-$root/target}/release

# cargo_step TITLE LOG ARGUMENTS...
cargo_step() {
  local title=$1 log=$2
  shift 2
  step "$title" "$log" cargo "$@" && return 0
  blame "$log" 'what was done is kept'
  show_failure "$log"
  return 1
}

# Examples that tests run.
examples=(mcp_fixture mcp_table answerer ros_fixture ros_ping)

# Always the whole workspace with examples: another selection has other features of shared dependencies, and
# cargo would compile r2r once for each. With `--tests` the tests are compiled in the same run, which leaves no processor idle at
# the end of the programs.
build() {
  [ -e "$target/sim" ] || need_disk 3 "$target"
  # First: the program has the page's files in it.
  make_page || exit 1
  cargo_step 'compile' compile build --release --workspace --bins "${examples[@]/#/--example=}" "$@" || exit 1
  lay_out
}

# What `colcon build` would install, as links: executables in lib/karakuri, data in share/karakuri, an index entry. The folders are
# real ones and only the files are links: `ros2 launch karakuri FILE` does not look into a folder that is a link. One process at a time,
# as links are replaced.
lay_out() {
  (
    flock 9
    lay_out_links
  ) 9> "$state/layout.lock"
}

lay_out_links() {
  local share=$install/share/karakuri folder program
  mkdir -p "$install/lib/karakuri" "$share" "$install/share/ament_index/resource_index/packages"
  for program in karakuri karakuri_client "$root"/packages/nodes/*/; do
    ln -sfn "$target/$(basename "$program")" "$install/lib/karakuri/$(basename "$program")"
  done
  for folder in launch config urdf rviz; do
    [ -d "$root/$folder" ] || continue
    [ ! -L "$share/$folder" ] || rm "$share/$folder" # as an older ./dev made it
    cp -rs --remove-destination "$root/$folder" "$share/"
    find "$share/$folder" -xtype l -delete # what is no more
  done
  ln -sfn "$root/packages/ros/karakuri/package.xml" "$share/package.xml"
  : > "$install/share/ament_index/resource_index/packages/karakuri"
}
