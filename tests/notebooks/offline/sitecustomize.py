"""Where namespaces are not permitted: Python code of the kernel reaches no machine but its own."""

import socket

connect = socket.socket.connect


def connect_here(self, address):
    if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in ("127.0.0.1", "::1", "localhost"):
        raise OSError(f"no network in this test: {address[0]}")
    return connect(self, address)


socket.socket.connect = connect_here
