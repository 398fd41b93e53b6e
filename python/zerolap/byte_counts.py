"""Numbers of bytes as they are shown."""

MIB = 1 << 20
GIB = 1 << 30


def shown_bytes(count: int) -> str:
    """Return a number of bytes with its unit."""
    if count >= 100 * GIB:
        return f"{count / GIB:,.0f} GiB"
    return f"{count / GIB:.3g} GiB" if count >= GIB else f"{count / MIB:.3g} MiB"
