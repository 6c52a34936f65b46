"""Run a command with nothing around it: inside new network and mount namespaces, called as

    unshare --net --mount python isolate.py FOLDER … -- COMMAND …

The folders are empty for the command, and it reaches no network but its own machine's loopback.
"""

import fcntl
import os
import socket
import struct
import subprocess
import sys

SIOCSIFFLAGS, IFF_UP = 0x8914, 1

if __name__ == "__main__":
    split = sys.argv.index("--")
    folders, command = sys.argv[1:split], sys.argv[split + 1 :]
    for folder in folders:
        subprocess.run(["mount", "-t", "tmpfs", "none", folder], check=True)
    # A new network namespace has its loopback down, and a kernel could not be reached.
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", IFF_UP))
    os.execvp(command[0], command)
