"""oshrun on a terminal, typed at by a user of an interactive shell. Run by terminal.sh."""
import os, pty, re, select, signal, struct, sys, termios, fcntl, time

OSHRUN, PE = sys.argv[1], sys.argv[2]
failures = 0


def fail(text):
    global failures
    failures += 1
    print("FAIL:", text)


class Shell:
    def __init__(self):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(PS1="READY> ", TERM="dumb", PROMPT_COMMAND="")
            os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 99, 0, 0))
        self.text = ""
        self.expect("READY> ")

    def type(self, text):
        os.write(self.fd, text.encode())

    def expect(self, pattern, seconds=15):
        """Waits for the pattern; gives what stood before it."""
        end = time.monotonic() + seconds
        while True:
            m = re.search(pattern, self.text)
            if m:
                before, self.text = self.text[: m.start()], self.text[m.end() :]
                return before
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.fd], [], [], left)[0]:
                fail("no %r in %r" % (pattern, self.text[-600:]))
                return ""
            try:
                self.text += os.read(self.fd, 65536).decode(errors="replace")
            except OSError:
                fail("terminal closed, no %r in %r" % (pattern, self.text[-600:]))
                return ""

    def status(self, want, name):
        self.type("echo status=$?\n")
        self.expect(r"echo status=\$\?")
        self.expect(r"status=")
        got = self.expect(r"\r?\n").strip()
        if got != str(want):
            fail("%s: status %s instead of %s" % (name, got, want))

    def run(self, command, status=0):
        self.type(command + "\n")
        self.expect(re.escape(command[-20:]) + r"\r?\n")
        out = self.expect("READY> ")
        self.status(status, command)
        self.expect("READY> ")
        return out


def running():
    found = []
    for p in os.listdir("/proc"):
        if not p.isdigit():
            continue
        try:
            if os.readlink("/proc/%s/exe" % p) == PE:
                state = open("/proc/%s/stat" % p).read().rpartition(")")[2].split()[0]
                if state not in "ZX":
                    found.append(state)
        except OSError:
            pass
    return found


def until(what, name, seconds=5):
    end = time.monotonic() + seconds
    while not what():
        if time.monotonic() > end:
            fail("%s: processes are in states %s" % (name, running()))
            return
        time.sleep(0.02)


sh = Shell()
# every PE sees a terminal, of the right size, and only PE 0 has an input
out = sh.run("%s -n 3 sh -c '[ -t 1 ] && [ -t 2 ] && echo tty; stty size <&1; [ -t 0 ] && echo input; :'" % OSHRUN)
for word, n in (("tty", 3), ("33 99", 3), ("input", 1)):
    if len(re.findall(word, out)) != n:
        fail("%s: %r" % (word, out))
if "\r\r\n" in out:
    fail("line ends are doubled: %r" % out)
out = sh.run("%s -n 1 sh -c '[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo tty'" % OSHRUN)
if "tty" not in out:
    fail("one PE: %r" % out)

# a prompt and an answer
sh.type("%s -n 2 sh -c '[ $SHMEM_PE = 0 ] || exit 0; printf \"name? \"; read x; echo \"<$x>\"'\n" % OSHRUN)
sh.expect(r"\nname\? ")
sh.type("me\n")
sh.expect("<me>")
sh.expect("READY> ")

# Ctrl-C: nobody needs to be told who died of it, though PE 0 gets it from the terminal itself, before oshrun can say so
for mode in ["hang", "word"] * 6:
    for n in (3, 1):
        sh.type("%s -n %d %s %s\n" % (OSHRUN, n, PE, mode))
        for _ in range(n):
            sh.expect(r"up \d")
        sh.type("\x03")
        out = sh.expect("READY> ")
        if "hbmesh" in out:
            fail("Ctrl-C, %d PEs: %r" % (n, out))
        sh.status(130, "Ctrl-C")
        sh.expect("READY> ")
        until(lambda: not running(), "Ctrl-C", 1)

# Ctrl-Z, fg, Ctrl-backslash
sh.type("%s -n 3 %s hang\n" % (OSHRUN, PE))
for _ in range(3):
    sh.expect(r"up \d")
sh.type("\x1a")
sh.expect("Stopped")
sh.expect("READY> ")
until(lambda: set(running()) == {"T"}, "Ctrl-Z")
sh.type("fg\n")
until(lambda: "T" not in running(), "fg")
time.sleep(0.3)
sh.type("\x1c")
sh.expect(r"PE 0 .*outside the library")
sh.expect(r"PE 2 .*waits in shmem_barrier_all")
until(lambda: len(running()) >= 6, "Ctrl-backslash")
sh.type("\x1a")
sh.expect("Stopped")
sh.expect("READY> ")
until(lambda: set(running()) == {"T"}, "Ctrl-Z again")
sh.type("bg\n")
until(lambda: "T" not in running(), "bg")
sh.type("kill %1\n")
until(lambda: not running(), "kill %1", 3)
sh.type("\n")
sh.expect("READY> ")
sh.type("wait\n")
sh.expect("READY> ")

# kill -9 of the whole job of the shell
sh.type("%s -n 3 %s hang &\n" % (OSHRUN, PE))
for _ in range(3):
    sh.expect(r"up \d")
sh.type("kill -9 %1\n")
until(lambda: not running(), "kill -9 %1", 1)
sh.type("\n")
sh.expect("READY> ")

# the window changes
sh.type("%s -n 3 %s signals\n" % (OSHRUN, PE))
for _ in range(3):
    sh.expect(r"up \d")
fcntl.ioctl(sh.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 44, 111, 0, 0))
for pe in range(3):
    sh.expect(r"winch [0-2]")
sh.type("\x03")
sh.expect("READY> ")
if "44 111" not in sh.run("%s -n 2 sh -c 'stty size <&1'" % OSHRUN):
    fail("the new size is not seen")

# one PE decides itself what Ctrl-C means
sh.type("%s -n 1 python3 -i -q\n" % OSHRUN)
sh.expect(">>> ")
sh.type("import time; time.sleep(600)\n")
time.sleep(0.3)
sh.type("\x03")
sh.expect("KeyboardInterrupt")
sh.expect(">>> ")
sh.type("print(6*7)\n")
sh.expect("42")
sh.expect(">>> ")  # typed earlier, it may meet the terminal between two modes, and be lost
sh.type("\x04")
sh.expect("READY> ")

# all of them read what is typed
sh.type("%s -l -n 3 --stdin all sh -c 'read x; echo \"<$x>\"'\n" % OSHRUN)
time.sleep(0.3)
sh.type("word\n")
for _ in range(3):
    sh.expect(r"\[\d\] <word>")
sh.expect("READY> ")

# the terminal is as it was, also after the launcher was killed
before = termios.tcgetattr(sh.fd)
sh.type("%s -n 3 %s hang\n" % (OSHRUN, PE))
for _ in range(3):
    sh.expect(r"up \d")
os.kill(os.tcgetpgrp(sh.fd), signal.SIGKILL)
sh.expect("READY> ")
until(lambda: not running(), "launcher killed", 1)
after = termios.tcgetattr(sh.fd)
if before[:4] != after[:4]:
    fail("the terminal's mode has changed")

# the terminal goes away
sh.type("%s -n 3 %s hang\n" % (OSHRUN, PE))
for _ in range(3):
    sh.expect(r"up \d")
os.close(sh.fd)
until(lambda: not running(), "terminal closed", 2)
os.kill(sh.pid, signal.SIGKILL)
sys.exit(failures != 0)
