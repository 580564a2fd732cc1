# Programs of others that drive servos, for tests/hardware: pinned, under .ros/clients, once.

make_clients() {
  step 'clients of servo buses' clients python3 "$root/tests/support/clients.py" && return 0
  blame clients 'what was downloaded is kept'
  show_failure clients
  fail 'The clients of servo buses could not be installed.' 'run the same command again; what was downloaded is kept'
}
