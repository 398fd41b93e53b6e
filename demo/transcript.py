"""Puts a transcript into a file: between its two markers, or as its whole content where it has none."""

import sys
from pathlib import Path

BEGIN, END = "<!-- transcript -->", "<!-- end of transcript -->"


def main(transcript: Path, target: Path) -> None:
    """Write it; a file with one marker is an error."""
    text = transcript.read_text(encoding="utf-8")
    content = target.read_text(encoding="utf-8") if target.exists() else ""
    if BEGIN in content:
        before, _, rest = content.partition(BEGIN)
        _, end, after = rest.partition(END)
        if not end:
            sys.exit(f"error: {target} has {BEGIN} and no {END}")
        # The transcript has fences of its own in it.
        text = f"{before}{BEGIN}\n`````text\n{text.rstrip()}\n`````\n{END}{after}"
    target.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
