"""What was measured on."""

import os
import platform
import re
import subprocess
import time


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def field(text, name):
    found = re.search(rf"^{name}\s*:\s*(.*)$", text, re.MULTILINE)
    return found.group(1).strip() if found else ""


def commit(folder):
    done = subprocess.run(["git", "-C", folder, "describe", "--always", "--dirty"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False)
    return done.stdout.decode().strip()


def compiler():
    done = subprocess.run(["cc", "--version"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return done.stdout.decode(errors="replace").split("\n")[0]


def running():
    """How many processes run or would like to at this moment, without this one."""
    found = re.search(r"(\d+)/\d+", read("/proc/loadavg"))
    return max(0, int(found.group(1)) - 1) if found else 0


def describe(folder):
    memory = field(read("/proc/meminfo"), "MemTotal").split()
    cpuinfo = read("/proc/cpuinfo")
    try:
        cc = compiler()
    except OSError:
        cc = ""
    return {
        "processor": field(cpuinfo, "model name") or field(cpuinfo, "CPU part") or platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "memory": f"{int(memory[0]) / 2**20:.0f} GiB" if memory else "",
        "kernel": platform.release(),
        "compiler": cc,
        "commit": commit(folder),
        "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "load": round(os.getloadavg()[0], 2),
        "running": running(),
    }
