"""Error bars and scores of Spark's data frames, beside those of Arrow's tables. Left out where PySpark or Java is missing."""

from __future__ import annotations

import datetime
import os
import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

pytest.importorskip("pyspark")

import errbar.spark
from errbar import SigmaRegressor
from errbar.arrow import predict_batches, score_batches
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

ROWS = 2000


@pytest.fixture(scope="module")
def spark():
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {"spark.ui.enabled": "false", "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    settings["spark.sql.shuffle.partitions"] = "2"
    session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def rows():
    random = np.random.default_rng(1)
    station = random.choice(["Ghent", "Lyon", "Turin"], ROWS)
    wind = random.gamma(2.0, 2.0, ROWS)
    sigma = (0.2 + 0.2 * wind) * np.where(station == "Turin", 2.0, 1.0)
    mu = random.normal(size=ROWS)
    return pd.DataFrame(
        {
            "id": np.arange(ROWS),
            "day": datetime.date(2024, 2, 29),
            "price": Decimal("1.25"),
            "station": np.where(random.random(ROWS) < 0.02, None, station),
            "wind.speed": np.where(random.random(ROWS) < 0.05, None, wind),
            "mu": mu,
            "y": mu + sigma * random.normal(size=ROWS),
        }
    ).astype({"wind.speed": float})


@pytest.fixture(scope="module")
def model(rows):
    inputs = rows[["station", "wind.speed"]]
    return SigmaRegressor("polynomial").fit(inputs, rows["y"] - rows["mu"])


@pytest.fixture(scope="module")
def frame(spark, rows):
    columns = "id long, day date, price decimal(9,2), station string, `wind.speed` double, mu double, y double"
    plain = [tuple(None if value != value else value for value in row) for row in rows.itertuples(index=False)]
    plain = [tuple(one.item() if isinstance(one, np.generic) else one for one in row) for row in plain]
    return spark.createDataFrame(plain, columns).repartition(3)


def test_error_bars_are_those_of_arrow(frame, rows, model):
    got = errbar.spark.predict(frame, model, forecast="mu", interval=0.9)
    want = predict_batches(model, forecast="mu", interval=0.9)(pa.Table.from_pandas(rows, preserve_index=False))
    assert got.columns == want.column_names
    kinds = dict(got.dtypes)
    assert (kinds["day"], kinds["price"], kinds["sigma"], kinds["outside"]) == ("date", "decimal(9,2)", "double", "boolean")
    told = sorted(tuple(row) for row in got.collect())
    columns = [want[name].to_pylist() for name in want.column_names]
    assert told == [tuple(one) for one in zip(*columns)]


def test_columns_are_kept_or_not(frame, model):
    assert errbar.spark.predict(frame, model, keep=["id"]).columns[:2] == ["id", "sigma"]
    out = errbar.spark.predict(frame, model, keep=False)
    assert out.columns == ["sigma", "support", "outside", "outside_input"]
    assert out.count() == ROWS
    assert errbar.spark.predict(frame.limit(0), model).collect() == []


def test_scores_are_those_of_arrow(frame, rows):
    table = pa.Table.from_pandas(rows, preserve_index=False)
    roles = {"observation": "y", "forecast": "mu", "sigma": 1.5}
    score = score_batches(**roles)
    got, want = errbar.spark.scores(frame, **roles, levels=[0.8]), score.finish(score(table))
    assert got.rows == want.rows == ROWS
    assert [one.level for one in got.coverage] == [0.8]
    assert abs(got.rs - want.rs) <= got.rs_bound + want.rs_bound
    np.testing.assert_allclose(got.crps, want.crps, rtol=1e-13)
    by = score_batches(**roles, by=["station", "day"])
    groups, wanted = errbar.spark.scores(frame, **roles, by=["station", "day"]), by.finish(by(table))
    assert set(groups) == set(wanted) and (None, datetime.date(2024, 2, 29)) in groups
    for name, one in groups.items():
        assert one.rows == wanted[name].rows
        np.testing.assert_allclose(one.nlpd, wanted[name].nlpd, rtol=1e-12)


def test_what_cannot_be_is_said_in_a_sentence(frame, model):
    with pytest.raises(ValueError, match='no column "wind.speed", an input of the model'):
        errbar.spark.predict(frame.drop("wind.speed"), model)
    with pytest.raises(ValueError, match='has a column "sigma" already'):
        errbar.spark.predict(frame.withColumn("sigma", F.lit(1.0)), model)
    with pytest.raises(ValueError, match='no column "sigma", the sigma'):
        errbar.spark.scores(frame, observation="y", forecast="mu", sigma="sigma")
    bad = frame.withColumn("s", F.when(F.col("id") == 77, 0.0).otherwise(1.0))
    with pytest.raises(Exception, match=r'partition \d, batch 0, row \d+: the column "s", the sigma, is 0.0'):
        errbar.spark.scores(bad, observation="y", forecast="mu", sigma="s")
