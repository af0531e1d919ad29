"""What this interpreter has for the Python part.

    python-facts.py NAME ...    prints those that are missing; status 0 when none is
    python-facts.py             prints "key=value" lines for CMake
    python-facts.py --namesake  prints name, version and place of the shmem4py of PyPI, if that is installed

A NAME is a module, or Python.h. NumPy counts from 1.24 on.
"""

import importlib.util
import os
import sys
import sysconfig

NUMPY = (1, 24)


def has_module(name):
    try:
        spec = importlib.util.find_spec(name)
        return spec is not None and spec.origin is not None  # an empty folder is no module
    except (ImportError, ValueError):
        return False


def has_numpy():
    try:
        import numpy
        return tuple(map(int, numpy.__version__.split(".")[:2])) >= NUMPY
    except Exception:  # a broken installation raises what it likes
        return False


def has(name):
    if name == "Python.h":
        return os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h"))
    return has_numpy() if name == "numpy" else has_module(name)


def facts():
    import numpy
    # NumPy's folder first: Debian puts the headers of its own NumPy beside Python.h.
    includes = [numpy.get_include(), sysconfig.get_path("include"), sysconfig.get_path("platinclude")]
    return {
        "executable": sys.executable,
        "version": sys.version.split()[0],
        "numpy": numpy.__version__,
        "include": ";".join(dict.fromkeys(includes)),
        "suffix": sysconfig.get_config_var("EXT_SUFFIX"),
        "modules": ";".join(name for name in ("pytest", "cffi", "torch") if has(name)),
    }


def namesake():
    import importlib.metadata
    try:
        found = importlib.metadata.distribution("shmem4py")
    except importlib.metadata.PackageNotFoundError:
        return ""
    return "shmem4py " + found.version + " in " + str(found.locate_file(""))


def main(names):
    if names == ["--namesake"]:
        print(namesake())
        return 0
    if not names:
        for key, value in facts().items():
            print(key + "=" + value)
        return 0
    missing = [name for name in names if not has(name)]
    if missing:
        print(" ".join(missing))
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
