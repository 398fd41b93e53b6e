"""Check runs with annotations on lines, and commit statuses, in the form that GitHub's API takes."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

ANNOTATIONS_AT_ONCE: Final = 50
STATUS_CHARACTERS: Final = 140

CheckStatus: TypeAlias = Literal["queued", "in_progress", "completed"]
Conclusion: TypeAlias = Literal["success", "failure", "neutral", "cancelled", "skipped", "timed_out", "action_required"]
StatusState: TypeAlias = Literal["pending", "success", "failure", "error"]


@dataclass(frozen=True)
class AnnotationLocation:
    """What identifies an annotation: its lines and its title. Its message may change."""

    path: str
    start_line: int
    end_line: int
    title: str


@dataclass(frozen=True)
class LineAnnotation:
    """A remark on lines of a file, shown in the diff of a pull request; lines are counted from 1."""

    path: str
    start_line: int
    end_line: int
    level: Literal["notice", "warning", "failure"]
    message: str
    title: str = ""

    @property
    def location(self) -> AnnotationLocation:
        """What identifies the annotation."""
        return AnnotationLocation(self.path, self.start_line, self.end_line, self.title)

    def document(self) -> dict[str, object]:
        """Return the JSON object for GitHub."""
        document: dict[str, object] = {
            "path": self.path,
            "start_line": self.start_line,
            "end_line": self.end_line,
            "annotation_level": self.level,
            "message": self.message,
        }
        return {**document, "title": self.title} if self.title else document


@dataclass(frozen=True)
class CheckContent:
    """What a check run shows. `conclusion` is given exactly when `status` is `completed`; `summary` is Markdown.

    GitHub never removes annotations from a run; only those that it does not have yet are sent.
    """

    status: CheckStatus
    title: str
    summary: str
    conclusion: Conclusion | None = None
    details_url: str = ""
    annotations: tuple[LineAnnotation, ...] = ()

    def without(self, locations: Collection[AnnotationLocation]) -> "CheckContent":
        """Return the check without the annotations at these locations."""
        left = tuple(annotation for annotation in self.annotations if annotation.location not in locations)
        return replace(self, annotations=left)

    def document(self, start: int) -> tuple[dict[str, object], int]:
        """Return the JSON object for GitHub with a batch of annotations, and the index of the next batch.

        The batch begins at the index `start`. Until the last batch is sent, the run is in progress.
        """
        batch = self.annotations[start : start + ANNOTATIONS_AT_ONCE]
        end = start + len(batch)
        is_last = end >= len(self.annotations)
        output: dict[str, object] = {"title": self.title, "summary": self.summary}
        if batch:
            output["annotations"] = [annotation.document() for annotation in batch]
        document: dict[str, object] = {"status": self.status if is_last else "in_progress", "output": output}
        if self.conclusion is not None and is_last:
            document["conclusion"] = self.conclusion
        if self.details_url:
            document["details_url"] = self.details_url
        return document, end


@dataclass(frozen=True)
class StatusContent:
    """The status of a commit for a context; the newest is valid. A description over 140 characters is shortened."""

    state: StatusState
    context: str
    description: str = ""
    target_url: str = ""

    def document(self) -> dict[str, object]:
        """Return the JSON object for GitHub."""
        description = self.description
        if len(description) > STATUS_CHARACTERS:
            description = description[: STATUS_CHARACTERS - 1] + "…"
        document: dict[str, object] = {"state": self.state, "context": self.context, "description": description}
        return {**document, "target_url": self.target_url} if self.target_url else document
