"""Times `errbar score` and `errbar predict` on large files, beside pandas and scoringrules: same files, one run.

    python3 benches/table_peers.py [--quick] [--out FILE]

Runs with plain Python 3.10 or later, in the virtual environment of peers.py. It writes

1. a table of observation, forecast and sigma with 10,000,000 rows, as CSV (17 digits where they are needed) and as
   Parquet, and the same three columns among twenty;
2. a CSV of 2 GB with inputs and a forecast, and models fitted to its first 5,000 rows.

Then, turn and turn about: `errbar score` with everything it gives (all scores, intervals, verdict), with all cores and
with one, and with all rows held in memory (--exact); pandas' read and the mean CRPS by scoringrules, with pandas' C
parser and with pyarrow's; and `errbar predict` from file to file. Both sides' mean CRPS must agree to 1e-10. Times are
the least of three, of errbar's whole process and of the peers without their imports; memory is the largest resident
set of the process, and processor seconds, which other work on the machine moves least, are those of the whole process.
"""

import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from importlib import metadata
from pathlib import Path

HERE = Path(__file__).resolve().parent


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="files of a hundredth of the size: a smoke test")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the markdown here as well")
    parser.add_argument("--folder", type=Path, help="where to make the files (8 GB) [a temporary folder]")
    return parser.parse_args()


if __name__ == "__main__":
    ARGUMENTS = parse_arguments()
    # peers.py as far as it needs no package: it makes the environment and starts this script again inside.
    head = (HERE / "peers.py").read_text(encoding="utf-8").partition("# Only the virtual environment")[0]
    names = {"__name__": "peers", "__file__": __file__}
    exec(compile(head, "peers.py", "exec"), names)
    names["enter_environment"]()

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from peers import TARGET, THREADS, cpu_model, say

PEER = """
import json, sys, time
import pandas as pd, scoringrules as sr
sr.crps_normal(0.0, 0.0, 1.0)
path, engine = sys.argv[1:]
start = time.perf_counter()
columns = ["observation", "forecast", "sigma"]
if path.endswith(".parquet"):
    table = pd.read_parquet(path, columns=columns)
else:
    table = pd.read_csv(path, engine=engine, usecols=columns)
values = (table[name].to_numpy() for name in columns)
crps = float(sr.crps_normal(*values).mean())
print(json.dumps({"crps": crps, "seconds": time.perf_counter() - start}))
"""


def write_scores(folder, rows):
    """A forecast that is a little overconfident."""
    random = np.random.default_rng(1)
    forecast = random.normal(280.0, 10.0, rows)
    sigma = np.exp(random.normal(0.0, 0.4, rows))
    observation = forecast + 1.1 * sigma * random.standard_normal(rows)
    needed = {"observation": observation, "forecast": forecast, "sigma": sigma}
    # Among others, of four decimals each.
    others = {f"x{k}": np.round(random.normal(0.0, 10.0, rows), 4) for k in range(17)}
    names = list(others)
    for place, name in [(4, "observation"), (11, "forecast"), (17, "sigma")]:
        names.insert(place, name)
    columns = needed | others
    for name, table in [("scores", pa.table(needed)), ("wide", pa.table({name: columns[name] for name in names}))]:
        pa.parquet.write_table(table, folder / f"{name}.parquet")
        options = pa.csv.WriteOptions(quoting_style="none")
        pa.csv.write_csv(table, folder / f"{name}.csv", options)


def write_inputs(folder, size):
    """Four inputs and a forecast, until the file is so large."""
    random = np.random.default_rng(2)
    path, part = folder / "inputs.csv", 0
    with open(path, "w") as file:
        file.write("id,season,hour,height,wind,forecast,observation\n")
        while file.tell() < size:
            rows = 200_000
            season, wind, forecast = random.uniform(0, 1, rows), random.gamma(2, 3, rows), random.normal(0, 5, rows)
            hour, height = random.integers(0, 24, rows), random.uniform(0, 3000, rows)
            error = (0.5 + season) * np.exp(0.05 * wind) * random.standard_normal(rows)
            columns = [season, hour, height, wind, forecast, forecast + error]
            texts = [[f"station-{part * rows + i}" for i in range(rows)]]
            texts += [[repr(x) if x % 1 else f"{x:.0f}" for x in np.round(c, 9).tolist()] for c in columns]
            file.write("".join(",".join(row) + "\n" for row in zip(*texts)))
            part += 1
    with open(path) as file, open(folder / "train.csv", "w") as train:
        train.writelines(line for line, _ in zip(file, range(5001)))
    return part * 200_000


def run(command, threads=None):
    """Seconds, processor seconds, largest memory in MB and standard output of a process."""
    environment = {k: v for k, v in os.environ.items() if k not in [f"{name}_NUM_THREADS" for name in THREADS]}
    if threads:
        environment["RAYON_NUM_THREADS"] = str(threads)
    start = time.perf_counter()
    process = subprocess.Popen([str(c) for c in command], stdout=subprocess.PIPE, env=environment)
    # The system's own count would begin with what this script had when it started the process.
    memory = []
    watch = threading.Thread(target=watch_memory, args=(process, memory))
    watch.start()
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    watch.join()
    if process.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed")
    return seconds, usage.ru_utime + usage.ru_stime, max(memory, default=0), output


def watch_memory(process, memory):
    """The largest resident set so far, in MB, again and again."""
    status = Path(f"/proc/{process.pid}/status")
    while process.returncode is None:
        try:
            lines = status.read_text().splitlines()
        except OSError:
            return
        memory += [int(line.split()[1]) / 1000 for line in lines if line.startswith("VmHWM")]
        time.sleep(0.02)


def main(arguments, folder):
    errbar = TARGET / "release" / "errbar"
    subprocess.run(["cargo", "build", "--release", "-p", "errbar-cli"], cwd=HERE.parent, check=True)
    rows = 100_000 if arguments.quick else 10_000_000
    size = 20_000_000 if arguments.quick else 2_000_000_000
    say(f"writing {rows} rows to score")
    write_scores(folder, rows)
    say(f"writing {size / 1e9} GB to predict")
    predicted = write_inputs(folder, size)

    cases = {}
    for file in ["scores.csv", "scores.parquet", "wide.csv", "wide.parquet"]:
        for label, more in [("", []), (", one thread", ["--threads", 1]), (" --exact", ["--exact"])]:
            command = [errbar, "score", folder / file, "--json", "--quiet", *more]
            cases[file, f"errbar score{label}"] = (command, 1 if "--threads" in more else None)
        for engine in ["c", "pyarrow"] if file.endswith("csv") else [""]:
            label = f"pandas{' (' + engine + ')' if engine else ''} + scoringrules"
            cases[file, label] = ([sys.executable, "-c", PEER, folder / file, engine], None)
    best, crps = {}, {}
    for _ in range(3):
        for key, (command, threads) in cases.items():
            say(" ".join(key))
            seconds, processor, memory, output = run(command, threads)
            told = json.loads(output)
            crps.setdefault(key[0], []).append(told.get("scores", told)["crps"])
            # Not the seconds that Python needs to import the peers.
            seconds = told.get("seconds", seconds)
            best[key] = min(best.get(key, (1e9, 0, 0)), (seconds, processor, memory))
    for file, values in crps.items():
        if max(values) - min(values) > 1e-10 * max(values):
            sys.exit(f"{file}: the mean CRPS differs: {values}")

    lines = [
        f"Measured {datetime.date.today()} on {os.cpu_count()} cores of {cpu_model()}; pandas "
        f"{metadata.version('pandas')}, pyarrow {metadata.version('pyarrow')}, scoringrules "
        f"{metadata.version('scoringrules')}. The least of three: errbar as a whole process, the peers without their imports.",
        "",
        f"Scoring {rows:,} rows. errbar gives all scores with confidence intervals, the peers the mean CRPS alone.",
        "",
        "| file | | seconds | million rows/s | processor seconds | memory, MB | time over errbar's |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    for (file, label), (seconds, processor, memory) in best.items():
        ratio = seconds / best[file, "errbar score"][0]
        lines.append(
            f"| {file} ({(folder / file).stat().st_size / 1e6:.0f} MB) | {label} | {seconds:.2f} | "
            f"{rows / seconds / 1e6:.2f} | {processor:.2f} | {memory:.0f} | {ratio:.1f} |"
        )
    lines += [
        "",
        f"`errbar predict --interval 0.9` on a CSV of {(folder / 'inputs.csv').stat().st_size / 1e9:.2f} GB, "
        f"{predicted:,} rows, to a CSV.",
        "",
        "| model | seconds | million rows/s | processor seconds | MB/s read | memory, MB |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for model in ["constant", "polynomial", "network", "trees"]:
        saved = folder / f"{model}.json"
        inputs = ["--inputs", "season,hour,height,wind", "--model", model]
        run([errbar, "fit", folder / "train.csv", *inputs, "-o", saved, "--quiet"])
        say(f"predict, {model}")
        command = [errbar, "predict", folder / "inputs.csv", "--model", saved, "--interval", "0.9"]
        seconds, processor, memory, _ = run([*command, "-o", folder / "out.csv", "--quiet"])
        megabytes = (folder / "inputs.csv").stat().st_size / 1e6
        lines.append(
            f"| {model} | {seconds:.1f} | {predicted / seconds / 1e6:.2f} | {processor:.1f} | "
            f"{megabytes / seconds:.0f} | {memory:.0f} |"
        )
    text = "\n".join(lines) + "\n"
    print(text)
    if arguments.out:
        arguments.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(dir=ARGUMENTS.folder) as temporary:
        main(ARGUMENTS, Path(temporary))
