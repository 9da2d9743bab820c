"""The library never prints, exits or touches signals: its objects do not ask for functions that do.
(assert's abort, on a defect of mfc itself, is the one way out.)"""
import re
import subprocess
import sys

LOUD = set("""printf vprintf puts putchar fprintf vfprintf fputs fputc putc perror stdout stderr exit _exit
quick_exit abort signal sigaction raise kill pthread_kill setlocale __printf_chk __fprintf_chk
__vfprintf_chk __vprintf_chk""".split())

# The watchdog ends the child process that it started itself.
ALLOWED = {("worker.c.o", "kill")}

nm, library = sys.argv[1:]
member, n_members, bad = "", 0, 0
for line in subprocess.run([nm, library], check=True, capture_output=True, text=True).stdout.split("\n"):
    if line.endswith(":"):
        member, n_members = line[:-1], n_members + 1
    m = re.match(r"\s+U (\w+)", line)
    if m and m.group(1) in LOUD and (member, m.group(1)) not in ALLOWED:
        print(f"{member} calls {m.group(1)}")
        bad += 1
print(f"{n_members} objects, {bad} calls that a library must not make")
sys.exit(bad != 0 or n_members < 5)
