"""What an environment shows, for type checkers: which observation and which picture goes with which option."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from typing_extensions import TypeVar  # with defaults, which typing has from Python 3.13 on

    Seen = TypeVar("Seen", default=Any)
    Picture = TypeVar("Picture", default=Any)
else:
    from typing import TypeVar

    Seen = TypeVar("Seen")
    Picture = TypeVar("Picture")


class Observation(TypedDict):
    """With observation="planes" (int8 (C + F, H, W)) and "flat" (int8 (C * H * W + F,))."""

    observation: npt.NDArray[np.int8]
    action_mask: npt.NDArray[np.int8]  #: (A,)


class Split(TypedDict):
    """Board and features apart."""

    board: npt.NDArray[np.int8]  #: (C, H, W)
    features: npt.NDArray[np.int8]  #: (F,)


class SplitObservation(TypedDict):
    """With observation="split"."""

    observation: Split
    action_mask: npt.NDArray[np.int8]  #: (A,)
