"""The sockets: what may be added to the simulator by one file and one line, from this package or from another one."""
