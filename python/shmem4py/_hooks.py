"""What happens to the job when a PE leaves: installed by the first init."""
import atexit
import sys
import threading

from . import _core

_INTERRUPTED = 130


def _flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            pass


def _others_run():
    """Is there a thread that the interpreter would wait for at its end?"""
    main = threading.main_thread()
    return any(t is not main and not t.daemon for t in threading.enumerate())


def _wrap_excepthook(before):
    def excepthook(kind, value, trace):
        """One PE says that it was interrupted; every other exception is printed by the PE it ends."""
        if not _core.query_initialized():
            before(kind, value, trace)
            return
        if not issubclass(kind, KeyboardInterrupt) or _core.claim_report():
            before(kind, value, trace)
        if _others_run():
            # The interpreter would wait for threads that may wait for this PE.
            _flush()
            _core.global_exit(_INTERRUPTED if issubclass(kind, KeyboardInterrupt) else 1)
    return excepthook


def _wrap_thread_hook(before):
    def excepthook(args):
        """A thread that dies takes the PE, and so the job, with it: the others may be waiting for it."""
        before(args)
        if _core.query_initialized() and not issubclass(args.exc_type, SystemExit):
            _flush()
            _core.global_exit(1)
    return excepthook


def install():
    sys.excepthook = _wrap_excepthook(sys.excepthook)
    atexit.register(_core._interrupt_stop)
    threading.excepthook = _wrap_thread_hook(threading.excepthook)
