"""Forecasts that other people made, as tables for `cargo run --example costs`: inputs x…, y, mu.

    python3 tools/real_tables.py FOLDER OUT

FOLDER holds dst, price, price_np and runoff as `NAME_train.csv.gz` and `NAME_test.csv.gz`, and rain as
`rain_train.csv.gz`, whose last 30% are its test part. Needs pandas.
"""

import sys
from pathlib import Path

import pandas as pd


def written(table, observation, forecast, inputs, path):
    table = table.dropna(subset=[observation, forecast, *inputs])
    columns = {f"x{i}": table[name] for i, name in enumerate(inputs) if name != forecast}
    pd.DataFrame({**columns, "y": table[observation], "mu": table[forecast]}).to_csv(path, index=False)


def main(folder, out):
    out.mkdir(parents=True, exist_ok=True)
    for part in ("train", "test"):
        for name in ("price", "price_np"):
            table = pd.read_csv(folder / f"{name}_{part}.csv.gz")
            time = table.columns[0]
            single = [c for c in table.columns if c not in (time, "Real price") and "Ensemble" not in c]
            table["spread"] = table[single].std(axis=1, ddof=1)
            table["hour"] = pd.to_datetime(table[time]).dt.hour
            inputs = ["LEAR Ensemble", "DNN Ensemble", "spread", "hour"]
            written(table, "Real price", "LEAR Ensemble", inputs, out / f"{name}_{part}.csv")
        dst = pd.read_csv(folder / f"dst_{part}.csv.gz")
        written(dst, "observation", "lstm_3h", ["lstm_3h"], out / f"dst_{part}.csv")
        runoff = pd.read_csv(folder / f"runoff_{part}.csv.gz")
        inputs = ["SWE", "PRCP", "RAIM", "TAIR", "PET", "ET", "MOD_RUN"]
        written(runoff, "OBS_RUN", "MOD_RUN", inputs, out / f"runoff_{part}.csv")
    rain = pd.read_csv(folder / "rain_train.csv.gz")
    members = rain[[c for c in rain.columns if c.startswith("rainfc")]]
    rain["mean"], rain["spread"] = members.mean(axis=1), members.std(axis=1, ddof=1)
    split = int(0.7 * len(rain))
    written(rain[:split], "rain", "mean", ["mean", "spread"], out / "rain_train.csv")
    written(rain[split:], "rain", "mean", ["mean", "spread"], out / "rain_test.csv")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]))
