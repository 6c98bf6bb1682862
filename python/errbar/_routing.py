"""scikit-learn's metadata routing: who in an :class:`ErrorBarRegressor` gets weights and groups.

Without it (the usual) both go to all parts that take them. With it each part says what it wants, by its own
``set_fit_request``.
"""

from __future__ import annotations

from typing import Any

from sklearn import get_config
from sklearn.utils import _safe_indexing
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

# What parts that are not given ask for, where they take it.
_ASKED = ("sample_weight", "group")


def routed() -> bool:
    """Whether scikit-learn routes metadata."""
    return bool(get_config()["enable_metadata_routing"])


def that_asks(part: Any, names: tuple[str, ...] = _ASKED) -> Any:
    """A part that is made here, which so has no one else to say what it wants."""
    if routed():
        there = part.get_metadata_routing().fit.requests
        part.set_fit_request(**{name: True for name in names if name in there})
    return part


def router(model: Any, forecaster: Any, sigma: Any) -> Any:
    """Who asks for what in ``fit``."""
    fitted = MethodMapping().add(caller="fit", callee="fit")
    split = MethodMapping().add(caller="fit", callee="split")
    made = MetadataRouter(owner=type(model).__name__).add_self_request(model)
    return made.add(estimator=forecaster, sigma=sigma, method_mapping=fitted).add(splitter=model.cv, method_mapping=split)


def given_to(model: Any, metadata: dict[str, Any], group: Any) -> dict[str, dict[str, Any]]:
    """What of the metadata of ``fit`` its parts get; a group goes by both of its names."""
    if group is not None:
        metadata = {**metadata, "group": group, "groups": group}
    if not metadata:
        return {"estimator": {}, "sigma": {}, "splitter": {}}
    found = process_routing(model, "fit", **metadata)
    for name in ("time", "prior_sigma"):
        if name in found.sigma.fit:
            raise ValueError(
                f"ErrorBarRegressor has no {name} of new rows to give to sigma: leave it out, or fit SigmaRegressor"
            )
    return {"estimator": found.estimator.fit, "sigma": found.sigma.fit, "splitter": found.splitter.split}


def of_rows(metadata: dict[str, Any], chosen: Any, rows: int) -> dict[str, Any]:
    """Metadata of some rows; what is not of rows stays."""

    def some(value: Any) -> Any:
        own = not isinstance(value, str) and hasattr(value, "__len__") and len(value) == rows
        return _safe_indexing(value, chosen) if own else value

    return {name: some(value) for name, value in metadata.items()}
