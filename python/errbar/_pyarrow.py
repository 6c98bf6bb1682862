"""PyArrow, or a sentence that says how to get it."""

from __future__ import annotations

try:
    import pyarrow as pa
except ImportError as missing:
    raise ImportError("batches of Arrow need PyArrow: pip install 'errbar[arrow]'") from missing

__all__ = ["pa"]
