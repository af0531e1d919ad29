"""Which file the library of this process is."""


def paths():
    """The files called libhbmesh.so... that are loaded, sorted: one, once the extension module is."""
    with open('/proc/self/maps', encoding='utf-8', errors='surrogateescape') as maps:
        return sorted({line.split(None, 5)[5].rstrip('\n') for line in maps if 'libhbmesh.so' in line})
