"""Diagnoses of the interference over one interval."""

from zerolap.host.diagnosis import Diagnosis, fine, warning
from zerolap.host.noise import Noise


def steal(noise: Noise) -> Diagnosis:
    """Whether the hypervisor gives processor time to other machines."""
    found = f"{noise.steal:.1%} over {noise.seconds:.1f} s"
    if noise.steal > 0.01:
        return warning(
            "steal",
            found,
            "timed trials scatter and need more pairs, or end unsure",
            "measure when the host is quiet, or with dedicated processors",
        )
    return fine("steal", found)


def swap(noise: Noise) -> Diagnosis:
    """Whether pages move to or from swap."""
    found = f"{noise.swapped_pages:.0f} pages/s"
    if noise.swapped_pages > 0:
        return warning("swap", found, "timed trials measure the disk", "free some memory, then: sudo swapoff -a")
    return fine("swap", found)


def load(noise: Noise) -> Diagnosis:
    """Whether other processes keep processors busy."""
    found = f"{noise.others:.2f} processors busy with other processes"
    if noise.others > 0.2:
        return warning(
            "load by others",
            found,
            "timed trials scatter and need more pairs, or end unsure; counted trials only take longer",
            "stop other work (see top)",
        )
    return fine("load by others", found)
