"""From raw files to a report in three commands: what docs/tables.md prints.

    python3 tools/raw_tables.py PROGRAM FOLDER [FLIGHTS]

FOLDER holds real forecasts as `<name>_train.csv.gz` and `<name>_test.csv.gz` (for rain one file, which is split by day), FLIGHTS
`flights_train.csv` and `flights_test.csv`. Prints Markdown: for each table the three commands, and what the report says first. An Excel
copy of the runoff is made by openpyxl, where that is installed.
"""

import csv
import gzip
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

TABLES = [
    (
        "dst",
        "An hourly index of the geomagnetic field, forecast one hour ahead by a recurrent network",
        ["--time", "time", "--forecast", "lstm_3h"],
        ["--observation", "observation"],
    ),
    (
        "price",
        "German day-ahead electricity prices by hour; the other eight models and their ensemble are inputs",
        ["--time", "time", "--delay", "48", "--forecast", "LEAR Ensemble"],
        ["--observation", "Real price"],
    ),
    (
        "price_np",
        "The same for the Nordic market, whose level of prices rises",
        ["--time", "time", "--delay", "48", "--forecast", "LEAR Ensemble"],
        ["--observation", "Real price"],
    ),
    (
        "runoff",
        "Daily runoff of a river, by a hydrological model, with what that knows of snow, rain and temperature",
        ["--time", "date", "--forecast", "MOD_RUN"],
        ["--observation", "OBS_RUN"],
    ),
    (
        "rain",
        "Rain of three days at Innsbruck, an ensemble of eleven members",
        ["--time", "date", "--delay", "8", "--members", "rainfc.*", "--lower", "0"],
        ["--observation", "rain"],
    ),
]
FLIGHTS = (
    "flights",
    "Flights out of New York and their delay on arrival, with text columns: carrier, origin, destination, tail number",
    ["--time", "time_hour", "--forecast", "forecast"],
    ["--observation", "observation"],
)


def run(program, folder, arguments):
    done = subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"errbar {shlex.join(arguments)}: {done.stderr}")
    return done


def shown(name, words, given, observation, files, program, folder, extra=""):
    train, test = files
    commands = [
        ["fit", train, *observation, *given, "-o", f"{name}.json"],
        ["predict", test, "--model", f"{name}.json", "--interval", "0.9", "-o", f"{name}-sigma.csv"],
        ["report", test, "--model", f"{name}.json", *observation, "-o", f"{name}.html"],
    ]
    done = [run(program, folder, command) for command in commands]
    said = done[2].stdout.strip().splitlines()
    print(f"## {name}\n\n{words}{extra}.\n\n```sh")
    print("\n".join(f"errbar {shlex.join(command)}" for command in commands))
    print("```\n\n```text")
    print("\n".join(said[:3]))
    print("```\n", flush=True)


def main():
    program, data = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for name, words, given, observation in TABLES:
            files = [f"{name}_train.csv.gz", f"{name}_test.csv.gz"]
            for file in files:
                if (data / file).exists():
                    (folder / file).write_bytes((data / file).read_bytes())
            extra = ""
            if name == "rain":
                lines = gzip.decompress((data / files[0]).read_bytes()).decode().splitlines(keepends=True)
                cut = 1 + int(0.7 * (len(lines) - 1))
                files = ["rain_train.csv", "rain_test.csv"]
                (folder / files[0]).write_text("".join(lines[:cut]))
                (folder / files[1]).write_text("".join(lines[:1] + lines[cut:]))
            shown(name, words, given, observation, files, program, folder, extra)
            if name == "runoff":
                try:
                    import openpyxl
                except ImportError:
                    continue
                books = []
                for file in files:
                    book = openpyxl.Workbook()
                    sheet = book.active
                    for row in csv.reader(gzip.decompress((folder / file).read_bytes()).decode().splitlines()):
                        cells = []
                        for cell in row:
                            try:
                                cells.append(float(cell))
                            except ValueError:
                                cells.append(cell)
                        sheet.append(cells)
                    books.append(file.replace(".csv.gz", ".xlsx"))
                    book.save(folder / books[-1])
                shown("runoff-excel", "The same tables as workbooks of Excel", given, observation, books, program, folder)
        if len(sys.argv) > 3:
            name, words, given, observation = FLIGHTS
            files = [str((Path(sys.argv[3]) / f"flights_{part}.csv").resolve()) for part in ("train", "test")]
            for file in files:
                (folder / Path(file).name).symlink_to(file)
            shown(name, words, given, observation, [Path(file).name for file in files], program, folder)


if __name__ == "__main__":
    main()
