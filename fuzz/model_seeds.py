"""Makes the seeds of the fuzz target `model` again, when the saved form has changed.

Usage: python3 fuzz/model_seeds.py target/release/errbar
"""

import json
import math
import pathlib
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).parent / "seeds" / "model"


def table(rows):
    lines = ["x,z,mu,y"]
    for i in range(rows):
        x, z = i / rows, math.cos(3 * i)
        lines.append(f"{x:.4f},{z:.4f},{2 * x:.4f},{2 * x + (0.2 + x) * math.sin(7 * i):.4f}")
    return "\n".join(lines) + "\n"


def fitted(program, rows, options):
    """A model that errbar fits to some rows."""
    with tempfile.TemporaryDirectory() as folder:
        train, model = pathlib.Path(folder, "train.csv"), pathlib.Path(folder, "model.json")
        train.write_text(table(rows))
        subprocess.run([program, "fit", train, "-q", "-o", model, *options.split()], check=True)
        return json.loads(model.read_text())


def small_network(model, units, members):
    """The same with one small layer: a fuzzer likes short files."""
    inner = model["fitted"]["model"]
    inner["shape"]["hidden"] = inner["shape"]["hidden"][:1]
    inner["shape"]["hidden"][0]["units"] = units
    weights = units * (inner["shape"]["inputs"] + 2) + 1
    inner["members"] = [member[:weights] for member in inner["members"][:members]]
    model["fitted"]["validation"] = None
    return model


def main(program):
    inputs = "--inputs x --forecast mu --observation y"
    models = {
        "constant": fitted(program, 30, f"{inputs} --model constant"),
        "polynomial": fitted(program, 30, f"{inputs} --model polynomial"),
        "smooth": fitted(program, 30, f"{inputs} --model smooth"),
        "network": small_network(fitted(program, 30, f"{inputs} --model network"), 2, 2),
        "mean": fitted(program, 12, "--inputs x --observation y --fit-mean gp --model constant"),
        "two_inputs": fitted(program, 40, "--inputs x,z --model polynomial --loss crps --errors in-sample"),
        "two_smooth_inputs": fitted(program, 40, "--inputs x,z --model smooth --validation 0"),
    }
    for name in ["polynomial", "smooth", "mean", "two_smooth_inputs"]:
        models[name]["fitted"]["validation"] = None

    def broken(source, change):
        model = json.loads(json.dumps(models[source]))
        change(model, model["fitted"], model["fitted"]["model"])
        return model

    models |= {
        "broken_newer": broken("constant", lambda m, f, s: m.update(errbar_model=2)),
        "broken_range": broken("polynomial", lambda m, f, s: f["ranges"].update(low=[5.0])),
        "broken_sizes": broken("network", lambda m, f, s: s.update(members=[[1.0, 2.0]])),
        "broken_names": broken("two_inputs", lambda m, f, s: f.update(names=["x"])),
    }
    texts = {name: json.dumps(model, separators=(",", ":")) for name, model in models.items()}
    texts["broken_infinite"] = texts["polynomial"].replace('"coefficients":[', '"coefficients":[1e999,')
    texts["broken_csv"] = table(2)
    for name, text in texts.items():
        FOLDER.joinpath(f"{name}.json").write_text(text.rstrip("\n") + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
