"""What happens to the job when a PE leaves: installed by the first init."""
import atexit
import os
import sys
import threading
import traceback

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


def tell_interrupted(value):
    """What a signal handler has raised in a call that this PE cannot leave alone: where that was, and that the job ends."""
    _flush()
    frames = traceback.extract_stack()[:-1] + traceback.extract_tb(value.__traceback__)
    who = f'PE {os.environ["SHMEM_PE"]}' if 'SHMEM_PE' in os.environ else 'This PE'
    lines = [f'{who} was interrupted in a call that all PEs take part in, so the job ends.\n',
             'Traceback (most recent call last):\n', *traceback.format_list(frames),
             *traceback.format_exception_only(type(value), value)]
    sys.stderr.write(''.join(lines))
    _flush()


def install():
    sys.excepthook = _wrap_excepthook(sys.excepthook)
    atexit.register(_core._interrupt_stop)
    threading.excepthook = _wrap_thread_hook(threading.excepthook)
