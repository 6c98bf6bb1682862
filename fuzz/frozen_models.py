"""How the frozen models were made: fits one of every kind and records what the program predicts.

They stand for files that users have: do not make them again when the saved form changes, but add others.

Usage: python3 fuzz/frozen_models.py target/release/errbar FOLDER VALUES.json
"""

import csv
import json
import math
import pathlib
import subprocess
import sys
import tempfile


def table(rows, groups=0, gaps=False):
    lines = ["x,z,station,mu,y"]
    state = 12345

    def rnd():
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (state >> 11) / 2**53

    for i in range(rows):
        x, z = rnd(), rnd()
        noise = sum(rnd() for _ in range(12)) - 6
        mu = 2 * x + z
        y = mu + 0.4 * math.sin(5 * x) + (0.2 + x) * noise
        station = f"s{i % groups}" if groups else "s"
        zt = "" if gaps and i % 9 == 4 else f"{z:.4f}"
        lines.append(f"{x:.4f},{zt},{station},{mu:.4f},{y:.4f}")
    return "\n".join(lines) + "\n"


def main(program, seeds, values):
    one = "--inputs x --forecast mu --observation y"
    two = "--inputs x,z --forecast mu --observation y"
    kinds = {
        "constant": (40, {}, f"{one} --model constant", ""),
        "polynomial": (60, {}, f"{two} --model polynomial", ""),
        "smooth": (60, {}, f"{one} --model smooth", "--sigma-band 0.8"),
        "smooth_two": (60, {}, f"{two} --model smooth", "--sigma-band 0.8"),
        "network": (40, {}, f"{one} --model network", ""),
        "ensemble": (40, {}, f"{one} --model ensemble", ""),
        "trees": (80, {}, f"{two} --model trees", ""),
        "stack": (60, {}, f"{one} --model stack", ""),
        "missing": (80, {"gaps": True}, f"{two} --model polynomial", ""),
        "mean": (25, {}, "--inputs x --observation y --fit-mean gp", ""),
        "sparse_mean": (1600, {}, "--inputs x --observation y --fit-mean gp", ""),
        "guarantee_split": (60, {}, f"{one} --model polynomial --guarantee split", "--guarantee 0.8"),
        "guarantee_cross": (40, {}, f"{one} --model polynomial --guarantee cross", "--guarantee 0.8"),
        "guarantee_groups": (80, {"groups": 4}, f"{one} --model constant --guarantee split --group station", "--guarantee 0.5"),
        "bias": (80, {}, f"{two} --model polynomial --debias", ""),
    }
    recorded = {}
    for name, (rows, how, options, ask) in kinds.items():
        with tempfile.TemporaryDirectory() as folder:
            train, model, out = (pathlib.Path(folder, n) for n in ["train.csv", "model.json", "out.csv"])
            text = table(rows, **how)
            train.write_text(text)
            subprocess.run([program, "fit", train, "-q", "-o", model, *options.split()], check=True, stdout=subprocess.DEVNULL)
            lines = text.splitlines()
            # Rows of the training table itself: inside of what the model knows, whatever that means.
            pathlib.Path(folder, "new.csv").write_text("\n".join([lines[0]] + lines[3:33:6]) + "\n")
            subprocess.run([program, "predict", folder + "/new.csv", "-q", "-m", model, "-o", out, "--prefix", "new_", *ask.split()], check=True)
            fitted = json.loads(model.read_text())
            pathlib.Path(seeds, f"frozen_{name}.json").write_text(json.dumps(fitted, separators=(",", ":")) + "\n")
            with open(out) as f:
                got = list(csv.DictReader(f))
            number = lambda t: float(t) if t else None
            recorded[name] = {
                "version": fitted["version"],
                "table": pathlib.Path(folder, "new.csv").read_text(),
                "ask": ask,
                "predicted": {k[4:]: [number(r[k]) for r in got] for k in got[0] if k.startswith("new_") and k != "new_outside"},
            }
    pathlib.Path(values).write_text(json.dumps(recorded, indent=1) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
