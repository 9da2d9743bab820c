"""terminal.py COLUMNS COMMAND...: runs the command on a terminal of this width, plays what it prints on a screen, checks
that the live line never reaches the last column, and prints the final screen."""
import fcntl
import os
import pty
import re
import struct
import sys
import termios

columns, command = int(sys.argv[1]), sys.argv[2:]
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(2, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    os.execvp(command[0], command)
drawn = b""
while True:
    try:
        block = os.read(terminal, 4096)
    except OSError:  # the other end is closed
        break
    if not block:
        break
    drawn += block
status = os.waitpid(pid, 0)[1]

screen, live = [""], 0
for line in re.sub(r"\x1b\[[0-9;]*m", "", drawn.decode()).replace("\r\n", "\n").split("\n"):  # without colours
    parts = line.split("\r\x1b[K")
    live += len(parts) - 1
    for part in parts[1:-1]:  # drawn, and drawn over
        assert len(part) < columns, f"{len(part)} columns: {part}"
    assert "\r" not in parts[-1] and "\x1b" not in parts[-1], repr(parts[-1])
    screen.append(parts[-1])
print("\n".join(l for l in screen if l))
print(f"live line drawn: {'often' if live > 3 else live}")
sys.exit(os.waitstatus_to_exitcode(status))
