"""Cases with smaller data sets, for `--quick`."""

from zerolap.cases._commands import KEY
from zerolap.cases._model import Case, Dataset, Keys


def scaled(case: Case, factor: float) -> Case:
    """Return the case with its loaded key range, and its own range over the same keys, scaled by one factor.

    A range keeps its place within the loaded one, so the share of hits stays. What setup commands fill is not scaled,
    nor is a case without a load.

    Raises:
        ValueError: The factor is not above 0 and at most 1.
    """
    if not 0 < factor <= 1:
        raise ValueError(f"expected a factor above 0 and at most 1; found {factor}")
    dataset = case.dataset
    if dataset is None or not dataset.load:
        return case
    origin = dataset.keys.minimum
    keys = case.keys
    if keys.prefix == dataset.keys.prefix:
        keys = _scaled_keys(keys, origin, factor)
    return case.model_copy(update={"keys": keys, "dataset": _scaled_dataset(dataset, factor)})


def _scaled_dataset(dataset: Dataset, factor: float) -> Dataset:
    keys = _scaled_keys(dataset.keys, dataset.keys.minimum, factor)
    expect = dataset.expect
    if expect.keys is not None:
        per_value = min(expect.keys // dataset.keys.count, sum(KEY in command for command in dataset.load))
        removed = per_value * (dataset.keys.count - keys.count)
        expect = expect.model_copy(update={"keys": expect.keys - removed})
    return dataset.model_copy(update={"keys": keys, "expect": expect})


def _scaled_keys(keys: Keys, origin: int, factor: float) -> Keys:
    start = round((keys.minimum - origin) * factor)
    end = max(start + 1, round((keys.maximum + 1 - origin) * factor))
    return keys.model_copy(update={"minimum": origin + start, "maximum": origin + end - 1})
