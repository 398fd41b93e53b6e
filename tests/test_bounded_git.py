"""Git is stopped where it takes too long, writes too much, or the work that it belongs to ends."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from waiting import PATIENCE_SECONDS, wait_until

from zerolap.build.bounded_git import GitStopped, read_git
from zerolap.records import Interrupted
from zerolap.sandbox import Cancellation


def test_a_git_that_does_not_end_is_stopped(compiler: None) -> None:
    with pytest.raises(GitStopped, match=r"did not end in 0\.1 s"):
        read_git(["-c", "alias.endless=!sleep 1000", "endless"], 1 << 20, 0.1)
    with pytest.raises(GitStopped, match="more than 1 MiB"):
        read_git(["-c", "alias.endless=!yes", "endless"], 1 << 20, 1000.0)


def test_a_git_is_stopped_with_the_work_that_it_belongs_to(compiler: None, tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    command = ["-c", f"alias.endless=!touch {begun}; sleep 1000", "endless"]
    cancellation = Cancellation()

    def read() -> None:
        with cancellation.current():
            read_git(command, 1 << 20, 1000.0)

    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(read)
        wait_until(begun.exists, lambda: None)
        cancellation.cancel()
        with pytest.raises(Interrupted):
            reading.result(PATIENCE_SECONDS)
