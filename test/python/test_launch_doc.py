"""The pages: their programs run, and the reference knows every name."""

import os
import re

import pytest

SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TYPES = ("float double longdouble char schar short int long longlong uchar ushort uint ulong ulonglong int8 int16 int32 int64 "
         "uint8 uint16 uint32 uint64 size ptrdiff complexf complexd").split()


def read(name):
    with open(os.path.join(SRC, name), encoding="utf-8") as f:
        return f.read()


@pytest.mark.parametrize("page", ["doc/python/guide.md", "README.md", "README.zh-CN.md"])
def test_first_program_runs(launch, page):
    block = next(b for b in re.findall(r"```python\n(.*?)```", read(page), re.S) if "shm.init" in b)
    r = launch(2, block)
    assert r.returncode == 0 and r.stderr == "", r


def test_reference_knows_every_name():
    import shmem4py
    text = read("doc/python/reference.md")
    words = set(re.findall(r"\w+", text))
    words |= {word[2:] for word in words if word.startswith("T_")}
    words |= {family + tail for family, tails in (("wait_until", ("_all", "_any", "_some")), ("test", ("_all", "_any", "_some")))
              for t in tails for tail in (t, t + "_vector")}
    words |= {"put_signal_nbi"} | {f"atomic_{op}" for op in re.findall(r"\w+", text)}
    words |= {f"atomic_{op}_nbi" for op in re.findall(r"\w+", text)}
    internal = {"shmem", "api", "rc", "block_alloc", "block_free", "array_on", "init_thread", "claim_report", "is_descendant",
                "pcontrol", "Block", "THREAD", "CTX", "MALLOC", "AMO"}
    missing = []
    for name in dir(shmem4py):
        head, _, tail = name.partition("_")
        stem = tail if head in TYPES and tail else name
        if name.startswith("_") or name in internal or re.match(r"(THREAD|CMP|SIGNAL|CTX|MALLOC|TEAM|MAJOR|MINOR|MAX)_", name):
            continue
        if stem not in words:
            missing.append(name)
    assert missing == []
