"""Makes pyarrow.parquet: a column of each type, two row groups, five compressions. Run in this folder; needs pyarrow."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

evening = dt.datetime(2024, 1, 31, 18)
short = [None if value is None else np.float16(value) for value in [1.5, -2, None, 0.1, 0, 65504]]
decimals = ["12.50", "-0.01", None, "99999999999999999.99", "0.00", "1.00"]
table = pa.table(
    {
        "int": pa.array([1, -2, None, 4, 5, 6], pa.int32()),
        "big": pa.array([2**53, 1, 2, None, 4, 5], pa.uint64()),
        "byte": pa.array([1, 255, 3, 4, 5, 6], pa.uint8()),
        "single": pa.array([0.5, None, 0.25, 1, 2, 3], pa.float32()),
        "short": pa.array(short, pa.float16()),
        "double": pa.array([0.1, float("nan"), None, 1e300, -0.0, 5], pa.float64()),
        "decimal": pa.array([value and Decimal(value) for value in decimals], pa.decimal128(20, 2)),
        "flag": pa.array([True, False, None, True, True, False]),
        "text": pa.array(["a", 'b, "c"', None, "", "é\n", "a"]),
        "category": pa.array(["x", "y", None, "x", "x", "y"]).dictionary_encode(),
        "date": pa.array([dt.date(2024, 1, 31), None] + [dt.date(1969, 12, 31)] * 4),
        "ms": pa.array([evening + dt.timedelta(milliseconds=250)] * 5 + [None], pa.timestamp("ms")),
        "utc": pa.array([evening] * 6, pa.timestamp("us", tz="UTC")),
        "ns": pa.array([0, 1, -1, None, 5, 10**18], pa.timestamp("ns")),
        "list": pa.array([[1, 2], [], None, [3], [4, None], [5]], pa.list_(pa.int64())),
        "struct": pa.array(
            [{"p": 1, "q": "u"}, None, {"p": None, "q": "v"}, {"p": 4, "q": None}, {"p": 5, "q": "w"}, {"p": 6, "q": "z"}]
        ),
        "null": pa.nulls(6),
    },
    metadata={"made by": "hand"},
)
pq.write_table(
    table,
    "pyarrow.parquet",
    row_group_size=4,
    compression={"int": "zstd", "big": "gzip", "byte": "lz4", "double": "none", "text": "snappy"},
    use_dictionary=["text", "category", "int"],
    write_statistics=False,
)
