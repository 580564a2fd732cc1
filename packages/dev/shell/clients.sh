# Programs of others that drive servos and call servers, for tests/hardware and tests/mcp_server: pinned, under .ros/clients, once.

make_clients() {
  step 'clients of buses and servers' clients python3 "$root/tests/support/clients.py" && return 0
  blame clients 'what was downloaded is kept'
  show_failure clients
  fail 'The clients of the tests could not be installed.' 'run the same command again; what was downloaded is kept'
}
