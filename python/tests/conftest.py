"""What several tests share."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def root() -> Path:
    """The folder of the project."""
    return ROOT


@pytest.fixture
def program() -> list[str]:
    """The program errbar, as this package carries it."""
    return [sys.executable, "-m", "errbar"]


@pytest.fixture
def heteroskedastic() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two inputs, errors and their true sigma, which depends on the first input alone."""
    random = np.random.default_rng(1)
    X = random.uniform(-1, 1, (400, 2))
    sigma = np.exp(X[:, 0])
    return X, random.normal(scale=sigma), sigma
