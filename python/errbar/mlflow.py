"""Models of sigma in MLflow: saved, logged, loaded, and served by the names of their columns.

What is kept is the model file that :meth:`SigmaRegressor.save` and ``errbar fit`` write, and no pickle. As a ``python_function``
the model takes a DataFrame with the columns it was fitted to, and the forecast where there is one, and gives the columns
that ``errbar predict`` writes: ``sigma``, and with a forecast ``lower_90`` and ``upper_90``.

It needs ``pip install 'errbar[mlflow]'``. ::

    import mlflow
    import errbar.mlflow

    with mlflow.start_run():
        logged = errbar.mlflow.log_model(model, name="sigma", forecast="mu")
    served = mlflow.pyfunc.load_model(logged.model_uri)
    served.predict(table)                               # sigma, lower_90, upper_90, support, outside, outside_input
    again = errbar.mlflow.load_model(logged.model_uri)  # a SigmaRegressor
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _errbar
from ._errbar import __version__
from ._pyarrow import pa
from .arrow import Levels, PredictBatches, _several, _text_of, predict_batches

if TYPE_CHECKING:
    from ._sigma_regressor import SigmaRegressor

__all__ = ["load_model", "log_model", "save_model"]

FLAVOR = "errbar"
# What is in a saved model, beside what MLflow puts there.
_FOLDER, _MODEL, _ASKED = "errbar", "model.json", "asked.json"


def save_model(
    model: Any,
    path: str | os.PathLike[str],
    *,
    forecast: str | None = None,
    interval: Levels = 0.9,
    quantiles: Levels = (),
    exceed: Levels = (),
    guarantee: Levels = (),
    as_fitted: bool = False,
    mlflow_model: Any = None,
    **options: Any,
) -> None:
    """Saves a model as an MLflow model, in a folder that is not there yet.

    Parameters
    ----------
    model : SigmaRegressor, ErrorBarRegressor, path or bytes
        A fitted model, or a model file. Of an :class:`ErrorBarRegressor` it is sigma alone: the forecaster has a flavor of its own.
    path : path
        The folder.
    forecast : str, optional
        The column with the forecast, where there is one; by default that which the model was fitted with, or "forecast". Rows without
        such a column get sigma alone.
    interval, quantiles, exceed, guarantee, as_fitted
        What the ``python_function`` is to give beside sigma: see :func:`errbar.arrow.predict_batches`.
    mlflow_model : mlflow.models.Model, optional
        Where the flavors are entered.
    **options
        Those of ``mlflow.pyfunc.save_model``: ``input_example``, ``pip_requirements``, ``metadata`` and others. The signature
        is made here.
    """
    from mlflow.models import Model
    from mlflow.pyfunc import save_model as save_pyfunc

    text = _text(model)
    asked = {
        "forecast": _forecast_of(text, forecast),
        "interval": _several("interval", interval),
        "quantiles": _several("quantiles", quantiles),
        "exceed": _several("exceed", exceed),
        "guarantee": _several("guarantee", guarantee),
        "as_fitted": bool(as_fitted),
    }
    made = _Served(text, asked)
    entered = Model() if mlflow_model is None else mlflow_model
    entered.add_flavor(FLAVOR, errbar_version=__version__, data=f"data/{_FOLDER}/{_MODEL}")
    options = {"signature": made.signature(), "pip_requirements": [f"errbar[mlflow]=={__version__}"], **options}
    if options.get("conda_env") is not None:
        del options["pip_requirements"]
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder, _FOLDER)
        kept.mkdir()
        (kept / _MODEL).write_text(text, encoding="utf-8")
        (kept / _ASKED).write_text(json.dumps(asked), encoding="utf-8")
        save_pyfunc(os.fspath(path), loader_module="errbar.mlflow", data_path=str(kept), mlflow_model=entered, **options)


def log_model(model: Any, name: str = "model", **options: Any) -> Any:
    """Logs a model as an artifact of the current run.

    Parameters
    ----------
    model : SigmaRegressor, ErrorBarRegressor, path or bytes
        As in :func:`save_model`.
    name : str
        The name of the model in MLflow.
    **options
        Those of :func:`save_model`, and of ``mlflow.models.Model.log`` (``registered_model_name`` and others).

    Returns
    -------
    mlflow.models.model.ModelInfo
        Its ``model_uri`` is what :func:`load_model` and ``mlflow.pyfunc.load_model`` take.
    """
    from mlflow.models import Model

    return Model.log(artifact_path=None, name=name, flavor=sys.modules[__name__], model=model, **options)


def load_model(model_uri: str, dst_path: str | None = None) -> SigmaRegressor:
    """The :class:`SigmaRegressor` in an MLflow model.

    Parameters
    ----------
    model_uri : str
        Where it is: a folder, ``models:/...``, ``runs:/...``.
    dst_path : str, optional
        Where to put what has to be fetched.

    Returns
    -------
    SigmaRegressor
    """
    from mlflow.artifacts import download_artifacts
    from mlflow.models import Model

    from ._sigma_regressor import SigmaRegressor

    folder = download_artifacts(artifact_uri=str(model_uri), dst_path=dst_path)
    flavors = Model.load(folder).flavors
    if FLAVOR not in flavors:
        raise ValueError(f"{model_uri} holds no model of errbar, but {', '.join(flavors) or 'nothing'}")
    return SigmaRegressor.load(Path(folder, flavors[FLAVOR]["data"]))


def _load_pyfunc(path: str) -> _Served:
    """What MLflow calls to serve a model."""
    text = Path(path, _MODEL).read_text(encoding="utf-8")
    return _Served(text, json.loads(Path(path, _ASKED).read_text(encoding="utf-8")))


class _Served:
    """A model that takes DataFrames."""

    def __init__(self, text: str, asked: dict[str, Any]) -> None:
        self._model = _errbar.Fitted.from_json(text)
        self._whole = predict_batches(text.encode(), keep=False, **asked)
        self._forecast = asked["forecast"]
        # Without the forecast there is sigma alone, unless the model moves forecasts or makes its own.
        self._alone: PredictBatches | None = None
        if not (self._model.has_bias or self._model.has_forecast or self._forecast in self._model.names):
            nothing = {name: () for name in ("interval", "quantiles", "exceed")}
            self._alone = predict_batches(text.encode(), keep=False, **{**asked, **nothing, "forecast": None})
            if self._forecast not in self._whole.inputs or self._forecast in self._alone.inputs:
                self._alone = None

    def predict(self, model_input: Any, params: Any = None) -> Any:
        """Error bars of the rows of a DataFrame, with its index."""
        if not hasattr(model_input, "columns"):
            raise ValueError(f"give a DataFrame with the columns {', '.join(self._whole.inputs)}")
        alone = self._alone if self._forecast not in model_input.columns else None
        made = alone or self._whole
        there = [name for name in dict.fromkeys(made.inputs) if name in model_input.columns]
        found = made(pa.Table.from_pandas(model_input[there], preserve_index=False)).to_pandas()
        return found.set_axis(model_input.index, axis=0)

    def signature(self) -> Any:
        """The columns that are taken and given, as MLflow wants to know them."""
        from mlflow.models import ModelSignature
        from mlflow.types.schema import ColSpec, Schema

        model, opened = self._model, self._whole._opened()
        texts = {model.names[place] for place, _ in model.categories} | {opened.group}
        must = self._alone or self._whole

        def kind(name: str) -> str:
            return "string" if name in texts else "datetime" if name == opened.time else "double"

        given = dict.fromkeys(name for name in self._whole.inputs if name not in opened.made)
        taken = [ColSpec(kind(name), name, required=name in must.inputs) for name in given]
        return ModelSignature(Schema(taken), Schema([_told(ColSpec, one) for one in self._whole.added()]))


def _told(spec: Any, field: pa.Field) -> Any:
    kind = "double" if pa.types.is_floating(field.type) else "boolean" if pa.types.is_boolean(field.type) else "string"
    return spec(kind, field.name, required=False)


def _text(model: Any) -> str:
    """The text of a model file, of whatever holds a model of sigma."""
    if hasattr(model, "sigma_") and hasattr(model, "save"):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, _MODEL)
            model.save(path)
            return _text_of(path)
    return _text_of(model)


def _forecast_of(text: str, forecast: str | None) -> str | None:
    """The name of the column with the forecast; of a model that makes its own there is none."""
    model = _errbar.Fitted.from_json(text)
    if forecast is not None or model.has_forecast:
        return forecast
    return model.forecast or "forecast"
