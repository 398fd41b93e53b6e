"""The distinct programs of a range: commits whose programs are the same are one node."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from zerolap.history.history_range import HistoryRange
from zerolap.store import CommitBuild, Store


@dataclass(frozen=True)
class Nodes:
    """The nodes of a range by position; none where a commit is not built.

    `builds` are all builds of the range in the variant, and those that are equal to one of them, with the node of each.
    """

    of_commits: tuple[int | None, ...]
    builds: dict[str, int]

    @cached_property
    def count(self) -> int:
        """How many nodes there are."""
        return len(set(self.builds.values()))

    @cached_property
    def first_positions(self) -> dict[int, int]:
        """The position of the first commit of each node."""
        first: dict[int, int] = {}
        for position, node in enumerate(self.of_commits):
            if node is not None:
                first.setdefault(node, position)
        return first

    def builds_of(self, node: int) -> list[str]:
        """Return the builds that are this program."""
        return [build for build, of_build in self.builds.items() if of_build == node]


def read_nodes(asked: HistoryRange, store: Store) -> Nodes:
    """Return the nodes of a range by the builds that the store knows and that its platform can execute."""
    commits = [commit.revision.commit for commit in asked.commits]
    builds = store.history.builds(commits, asked.architectures)
    known = [build for build in builds if build.variant == asked.variant]
    nodes = nodes_of(commits, known)
    # A commit before the range may have been measured for an equal program.
    node_of_image = {build.image: nodes.builds[build.build] for build in known if build.image}
    equal = {
        build: node_of_image[image]
        for build, image in store.history.builds_of_images(list(node_of_image), asked.variant).items()
    }
    return replace(nodes, builds=equal | nodes.builds)


def nodes_of(commits: Sequence[str], builds: Sequence[CommitBuild]) -> Nodes:
    """Return the nodes of commits in order: commits with any builds of the same image are one node.

    A commit has several builds if compilers were changed meanwhile: these are one program, built by other tools.
    """
    by_commit: dict[str, list[CommitBuild]] = {}
    for build in builds:
        by_commit.setdefault(build.commit, []).append(build)
    joined: dict[str, str] = {}
    for commit in commits:
        for build in by_commit.get(commit, []):
            joined[_root(joined, f"commit {commit}")] = _root(joined, _program(build))
    numbers: dict[str, int] = {}
    node_of_build: dict[str, int] = {}
    of_commits: list[int | None] = []
    for commit in commits:
        node = None
        for build in by_commit.get(commit, []):
            node = numbers.setdefault(_root(joined, _program(build)), len(numbers))
            node_of_build[build.build] = node
        of_commits.append(node)
    return Nodes(tuple(of_commits), node_of_build)


def _program(build: CommitBuild) -> str:
    """Return what equal programs have in common; of a build whose image is not known nothing is equal."""
    return f"image {build.image}" if build.image else f"build {build.build}"


def _root(joined: dict[str, str], name: str) -> str:
    """Return what stands for all that a name is joined with."""
    joined.setdefault(name, name)
    while joined[name] != name:
        joined[name] = joined[joined[name]]
        name = joined[name]
    return name


def of_built_commits(asked: HistoryRange, store: Store) -> HistoryRange:
    """Return the part of a range from the first to the last commit that is built in the variant.

    Commits between them stay even if they are not built: a step over them belongs to none of them alone.
    """
    built = [position for position, node in enumerate(read_nodes(asked, store).of_commits) if node is not None]
    return replace(asked, commits=asked.commits[built[0] : built[-1] + 1] if built else [])
