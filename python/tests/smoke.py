"""What works with NumPy alone. Run by ./test in an environment that has nothing else."""

import importlib.util
import sys

import errbar

for package in ("sklearn", "scipy", "pandas", "pyarrow"):
    assert importlib.util.find_spec(package) is None, f"{package} is here: this shows nothing"

assert abs(errbar.crps(0.0, 1.0) - (2**0.5 - 1) / 3.141592653589793**0.5) < 1e-15
scores = errbar.scores([1.0, -2.0, 0.5], 0.0, [1.0, 2.0, 0.5], intervals=True)
assert scores.rows == 3
assert errbar.Normal(0.0, 1.0).cdf(0.0) == 0.5
assert errbar.report([1.0, -2.0, 0.5] * 20, 0.0, 1.0).html.startswith("<!DOCTYPE html>")

try:
    import errbar.arrow
except ImportError as missing:
    assert "pip install 'errbar[arrow]'" in str(missing), missing
else:
    sys.exit("errbar.arrow came without PyArrow")

for name in ("SigmaRegressor", "ErrorBarRegressor"):
    assert name in dir(errbar)
    try:
        getattr(errbar, name)
    except ImportError as missing:
        assert "pip install 'errbar[sklearn]'" in str(missing), missing
    else:
        sys.exit(f"errbar.{name} came without scikit-learn")
