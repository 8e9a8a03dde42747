"""What hypothesis puts in the place of actions, seeds, options and arrays."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

# Nothing of this is a whole number, though some compare equal to one.
NOT_WHOLE_NUMBERS = st.one_of(
    st.none(),
    st.booleans(),
    st.booleans().map(np.bool_),
    st.floats(),
    st.integers(-2, 40).map(float),
    st.integers(-2, 40).map(np.float64),
    st.integers(-2, 40).map(str),
    st.complex_numbers(),
    st.fractions(),
    st.text(max_size=4),
    st.binary(max_size=4),
    st.lists(st.integers(0, 40), max_size=3),
    st.lists(st.integers(0, 40), min_size=1, max_size=3).map(np.array),
    st.dictionaries(st.integers(0, 3), st.integers(0, 3), max_size=2),
    st.builds(object),
)

WHOLE_NUMBERS = st.one_of(
    st.integers(-3, 3000),
    st.sampled_from([-(2**63) - 1, -(2**63), -(2**31), 2**31, 2**63 - 1, 2**63, 2**64, 2**100]),
)
