"""Writes the reference values of crates/errbar/tests/math_vectors.csv, computed with 60 digits.

Each row is `function,x,reference,residual`: x and the double nearest to f(x) as the hexadecimal digits of their bits,
and what the reference lacks to f(x), in units in its last place.

    pip install mpmath && python tools/math_vectors.py > crates/errbar/tests/math_vectors.csv
"""

import math
import random
import struct
from fractions import Fraction

from mpmath import erf, erfc, exp, ln, mp, mpf, pi, sqrt, tanh

mp.dps = 60

# Where a scan of some million random points found the largest errors, so that the tests hold the bounds down.
WORST = {
    "exp": [
        -708.8437460804355, -708.5541495074104, -603.3770452804172, -464.0524727553177, -337.90422687429844,
        -228.372171333733, -17.669785731834654,
    ],
    "ln": [
        0.6985372908301636, 0.6990001919342549, 0.6994954098051419, 0.7023571183978942, 0.7031775221049043,
        0.7035488350799598, 0.7044500624978095, 0.7045164728415828, 0.7052714587035717, 0.7056414416809677,
        0.7062291329274374, 1.402221012745713,
    ],
    "erf": [
        0.9693855898094699, 0.9741273852234444, 0.998973927514571, 0.9994675164018471, 1.0003865913798795,
        1.002037741466879, 1.0029582156850225, 1.0053377314455472, 1.0473180338166819, 1.055286999463601,
        1.0691710007942832, 1.0784391066083068,
    ],
    "exp_minus_square": [
        0.5760857435774743, 3.6757780043682673, 5.028385902360939, 14.238311734020959, 16.744120184998618,
        17.552434548176343, 21.797856033988158, 22.609380481806877, 26.334099003269124,
    ],
    "erfc": [
        0.5029611632356176, 0.5040994751539586, 0.5138134018565209, 0.5192464627150196, 0.5225819157400015,
        0.5278841811338021, 3.653464800024086, 7.550584390356065, 7.686674364904811, 7.909257863542877,
        15.669141963652459, 15.735126829409916,
    ],
    "tanh": [
        0.11580645863189291, 0.11615618111508633, 0.11774144963524145, 0.1189143078014486, 0.12250045387468916,
        0.12402544808768065,
    ],
    "erfinv": [
        7.563773861221198e-226, 7.311397683281628e-142, 2.0403555032700373e-40,
    ],
    "erfcinv": [
        3.7564e-320, 1.749261991387e-311, 3.974864874e-315, 2.961857970318095e-307, 3.014e-320,
    ],
}

LN2 = math.log(2)


def steps(x, count=3):
    """x and its neighbours."""
    points = [x]
    for direction in (-math.inf, math.inf):
        y = x
        for _ in range(count):
            y = math.nextafter(y, direction)
            points.append(y)
    return points


def near(*centres):
    return [y for x in centres for y in steps(x)]


def magnitudes(low, high, count):
    """Numbers evenly spread in logarithm."""
    a, b = math.log2(low), math.log2(high)
    return [2 ** (a + (b - a) * (i + random.random()) / count) for i in range(count)]


def uniform(low, high, count):
    return [low + (high - low) * (i + random.random()) / count for i in range(count)]


def both(points):
    return points + [-x for x in points]


TINY, HUGE, SUBNORMAL = 2.0**-1022, 1.7e308, 5e-324
SUBNORMALS = [SUBNORMAL, 2 * SUBNORMAL, 3 * SUBNORMAL, 1e-320, 1.2345e-310, math.nextafter(TINY, 0), TINY]


def exp_points():
    halves = [(k + 0.5) * LN2 for k in (-1074, -1022, -500, -20, -3, -2, -1, 0, 1, 2, 20, 500, 1022)]
    edges = [709.782712893384, -708.3964185322641, -744.4400719213812, -745.1332191019411]
    return (both(SUBNORMALS + magnitudes(TINY, 1e-3, 40) + magnitudes(1e-3, 700, 120)) + near(*halves)
            + steps(edges[0])[:4] + near(*edges[1:]) + uniform(-1, 1, 150) + uniform(-745, 709.7, 150)
            + uniform(-745.2, -708, 60))


def ln_points():
    breaks = [1.0, math.sqrt(0.5), math.sqrt(2), 2.0, 0.5, 1e300 * math.sqrt(2), TINY]
    return (SUBNORMALS + magnitudes(2e-320, TINY, 40) + magnitudes(TINY, HUGE, 200) + near(*breaks)
            + uniform(0.5, 2.2, 250) + uniform(0.98, 1.02, 80)
            + [1 + s * 2.0**-k for k in range(3, 52, 3) for s in (1, -1)])


def erf_points():
    return (both(SUBNORMALS + magnitudes(TINY, 1e-3, 60)) + magnitudes(1e-3, 1, 100) + near(0.5, 1.0, 2.5, 5.9, 27.3)
            + uniform(0, 1, 200) + uniform(0.9, 1.3, 120) + uniform(1, 6, 150)
            + both([6.5, 10.0, 26.0, 28.0, 1e10, 1e300, HUGE]))


def exp_minus_square_points():
    halves = [math.sqrt((k + 0.5) * LN2) for k in (0, 1, 2, 20, 500, 1021, 1022, 1073, 1074)]
    return (both(SUBNORMALS + magnitudes(TINY, 1e-3, 20)) + magnitudes(1e-3, 1, 80) + near(*halves, 27.3)
            + uniform(0, 3, 200) + uniform(3, 26.6, 220) + uniform(26.6, 27.3, 40) + [28.0, 1e10, 1e200, HUGE])


def erfc_points():
    return (both(SUBNORMALS + magnitudes(TINY, 1e-3, 25) + magnitudes(1e-3, 1, 60)) + near(0.5, -0.5, 4.0, 27.226, 27.3)
            + uniform(-1, 1, 80) + uniform(0.4, 3, 200) + uniform(3, 26.5, 200) + uniform(26.5, 27.25, 60)
            + uniform(-6.5, -0.5, 60) + both([28.0, 1e10, 1e200, HUGE]))


def tanh_points():
    quarters = [(k + 0.5) * LN2 / 2 for k in range(6)]
    return (both(SUBNORMALS + magnitudes(TINY, 1e-3, 40)) + magnitudes(1e-3, 0.2, 140) + near(*quarters, 19.06, 22.0)
            + uniform(0, 0.6, 200) + uniform(0.5, 3, 150) + uniform(3, 23, 80) + both([1e10, HUGE]))


def erfinv_points():
    return (both(SUBNORMALS + magnitudes(TINY, 1e-3, 60) + magnitudes(1e-3, 1, 60)) + uniform(-1, 1, 150)
            + [1 - 2.0**-k for k in range(1, 54)] + [1 - x for x in magnitudes(1e-15, 0.1, 80)])


def erfcinv_points():
    return (SUBNORMALS + magnitudes(2e-322, TINY, 100) + magnitudes(TINY, 1e-3, 250) + magnitudes(1e-3, 1, 80)
            + near(1e-15) + uniform(1e-3, 1.999, 120) + [2 - 2.0**-k for k in range(1, 53)]
            + [1 + s * 2.0**-k for k in range(2, 52, 2) for s in (1, -1)])


def erfcinv(q):
    """Newton's method on ln erfc; q is exact."""
    if q > 1:
        return -erfcinv(2 - q)
    if q > mpf("0.5"):
        x = (1 - q) * sqrt(pi) / 2
        for _ in range(9):
            x -= (erf(x) - (1 - q)) * exp(x * x) * sqrt(pi) / 2
        return x
    x = sqrt(-ln(q))
    for _ in range(12):
        x += (ln(erfc(x)) - ln(q)) * erfc(x) * exp(x * x) * sqrt(pi) / 2
    return x


def erfinv(p):
    if p < 0:
        return -erfinv(-p)
    if p < mpf("0.5"):
        x = p * sqrt(pi) / 2
        for _ in range(9):
            x -= (erf(x) - p) * exp(x * x) * sqrt(pi) / 2
        return x
    return erfcinv(1 - p)


def nearest(value):
    """The double nearest to value, and the rest in units in its last place."""
    sign, mantissa, exponent, _ = value._mpf_
    exact = Fraction(int(mantissa) * (-1) ** sign) * Fraction(2) ** exponent
    double = float(exact)
    return double, float((exact - Fraction(double)) / Fraction(math.ulp(double)))


FUNCTIONS = {
    "exp": (exp_points, exp),
    "ln": (ln_points, ln),
    "erf": (erf_points, erf),
    "exp_minus_square": (exp_minus_square_points, lambda x: exp(-x * x)),
    "erfc": (erfc_points, erfc),
    "tanh": (tanh_points, tanh),
    "erfinv": (erfinv_points, erfinv),
    "erfcinv": (erfcinv_points, erfcinv),
}


def bits(x):
    return struct.pack(">d", x).hex()


def reference(function, x):
    # These are at their limits long before, and mpmath would work with thousands of bits.
    if function in ("erf", "erfc", "tanh", "exp_minus_square") and abs(x) > 1e4:
        limit = {"erfc": 0 if x > 0 else 2, "exp_minus_square": 0}.get(function, math.copysign(1, x))
        return float(limit), 0.0
    return nearest(FUNCTIONS[function][1](mpf(x)))


def main():
    random.seed(20180303)
    print("function,x,reference,residual")
    for function, (points, _) in FUNCTIONS.items():
        for x in points() + WORST.get(function, []):
            double, residual = reference(function, x)
            print(f"{function},{bits(x)},{bits(double)},{residual:.3f}")


if __name__ == "__main__":
    main()
