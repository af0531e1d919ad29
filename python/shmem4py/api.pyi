"""Types of shmem4py.api: cffi has none for what it makes."""
from typing import Any

ffi: Any
lib: Any
