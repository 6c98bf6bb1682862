"""Prints the polynomial coefficients of crates/errbar/src/math, as Rust arrays.

Each polynomial is the minimax one (Remez exchange in 50 digits) for the weight that makes its error a fixed fraction
of an ulp of the function it serves.

    pip install mpmath && python tools/coefficients.py
"""

from mpmath import atanh, cos, erf, erfc, exp, log, lu_solve, matrix, mp, mpf, pi, polyval, sqrt

mp.dps = 50

# Keeps a weight that vanishes in one point from being divided by.
TINY = mpf(10) ** -30


def remez(function, weight, low, high, degree, rounds=12):
    """Coefficients, constant first, of the polynomial p of this degree that minimises max weight*|function - p|."""
    low, high = mpf(low), mpf(high)
    count = degree + 2
    grid = [(low + high) / 2 - (high - low) / 2 * cos(pi * i / (40 * count)) for i in range(40 * count + 1)]
    values = [(t, function(t), weight(t)) for t in grid]
    chosen = [values[round(i * 40 * count / (count - 1))] for i in range(count)]
    for _ in range(rounds):
        system = matrix(count, count)
        right = matrix(count, 1)
        for row, (t, f, w) in enumerate(chosen):
            for column in range(degree + 1):
                system[row, column] = t**column
            system[row, degree + 1] = (-1) ** row / w
            right[row] = f
        solution = lu_solve(system, right)
        coefficients = [solution[i] for i in range(degree + 1)]
        levelled = abs(solution[degree + 1])
        errors = [(w * (f - polyval(coefficients[::-1], t)), (t, f, w)) for t, f, w in values]
        largest = max(abs(e) for e, _ in errors)
        # One extremum from each run of equal sign.
        runs = []
        for error, point in errors:
            if runs and (runs[-1][0] > 0) == (error > 0):
                runs[-1] = max(runs[-1], (error, point), key=lambda r: abs(r[0]))
            else:
                runs.append((error, point))
        while len(runs) > count:
            runs.pop(0 if abs(runs[0][0]) < abs(runs[-1][0]) else -1)
        if len(runs) < count or largest < levelled * mpf("1.001"):
            break
        chosen = [point for _, point in runs]
    return coefficients, largest


def erfcx(x):
    return exp(x * x) * erfc(x)


def exp_tail(r):
    """(e^r - 1 - r) / r^2"""
    return (exp(r) - 1 - r) / r**2 if abs(r) > mpf(10) ** -15 else mpf(1) / 2 + r / 6


def log_tail(z):
    """(2 atanh(s) - 2 s) / s^3 at s = sqrt(z)"""
    if z < mpf(10) ** -20:
        return mpf(2) / 3 + 2 * z / 5
    s = sqrt(z)
    return (2 * atanh(s) - 2 * s) / (s * z)


def erf_small(u):
    """erf(x)/x - 1 at x = sqrt(u)"""
    if u < mpf(10) ** -25:
        return 2 / sqrt(pi) - 1
    x = sqrt(u)
    return erf(x) / x - 1


def moebius(c, s):
    """The map t = (x - c)/(x + s) and its inverse."""
    return lambda x: (x - c) / (x + s), lambda t: (c + s * t) / (1 - t)


def show(name, file, function, weight, low, high, degree, constant=None):
    coefficients, error = remez(function, weight, low, high, degree)
    print(f"// {file}: largest weighted error 2^{float(log(error, 2)):.1f}")
    if constant:
        print(f"const {constant}: f64 = {float(coefficients.pop(0))!r};")
    print(f"const {name}: [f64; {len(coefficients)}] = [")
    for c in coefficients:
        print(f"    {float(c)!r},")
    print("];\n")


def main():
    # Half of ln 2, and a little more for the rounding of the multiple.
    edge = log(2) / 2 * mpf("1.0001")
    show("TAIL", "exp.rs", exp_tail, lambda r: r * r / exp(r) + TINY, -edge, edge, 9)

    edge = (3 - 2 * sqrt(mpf(2))) ** 2 * mpf("1.0001")
    show("TAIL", "ln.rs", log_tail, lambda z: z / 2 + TINY, 0, edge, 6)

    half = mpf(1) / 2

    def small(v):
        return erf_small(v + half)

    show("SMALL", "erf.rs", small, lambda v: 1 / (1 + small(v)), -half, half, 11)

    # The weight makes it an error relative to erf, which beyond 6 is 1.
    to_t, to_x = moebius(mpf("2.5"), mpf(3))
    show("LARGE", "erf.rs", lambda t: erfcx(to_x(t)), lambda t: exp(-to_x(t) ** 2) / erf(to_x(t)), to_t(1), to_t(6), 11)

    show("SMALL", "erfc.rs", erf_small, lambda u: 1 / (1 + erf_small(u)), 0, half**2, 8)

    to_t, to_x = moebius(mpf(4), mpf(4))

    def tail(t):
        return erfcx(to_x(t)) * (1 + 2 * to_x(t))

    show("TAIL", "erfc.rs", tail, lambda t: 1 / tail(t), to_t(half), to_t(28), 21, "CONSTANT")


if __name__ == "__main__":
    main()
