"""A progress bar for whoever watches, and nothing where nobody does."""

import os
import sys
from collections.abc import Iterable

from tqdm import tqdm
from tqdm.notebook import tqdm as notebook_tqdm


def progress(steps: Iterable, label: str | None) -> Iterable:
    """Go through steps with a bar of that name: in a terminal, or in a live notebook; without a name there is no bar.

    While the book is built (ATTNLAB_STATIC is set) and where the error stream is a file, there is none either:
    its timing would stand in the page and differ from build to build.
    """
    if label is None or os.environ.get("ATTNLAB_STATIC"):
        return steps
    if "ipykernel" in sys.modules:
        return notebook_tqdm(steps, desc=label)
    return tqdm(steps, desc=label, disable=None)  # None: off where stderr is not a terminal
