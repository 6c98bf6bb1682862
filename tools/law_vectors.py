"""Writes the reference values of crates/errbar/tests/law_vectors.csv: predictive laws, by quadrature with 40 digits.

Nothing here uses the closed forms of errbar::law. A law is its density; distribution functions come from mpmath's
own special functions, scores from numerical integration of the definition, derivatives in the degrees of freedom from
differences with a step of 1e-8, and quantiles that no inverse function gives from root finding.

    pip install mpmath && python tools/law_vectors.py > crates/errbar/tests/law_vectors.csv

Each row is `kind,base,nu,location,left,right,...`; the header of each kind names the rest. Some minutes.
"""

import sys

from mpmath import betainc, erfc, exp, findroot, gamma, inf, ln, log1p, mp, mpf, pi, quad, sqrt, workdps

mp.dps = 40

BASES = [("normal", 0), ("logistic", 0), ("laplace", 0)] + [("t", nu) for nu in ("1.5", "2.5", "3", "8", "40", "3000")]
LAWS = [("0", "1", "1"), ("2", "0.5", "3"), ("-1", "4", "0.25")]


def number(text):
    """What a program reads from the text: a double."""
    return mpf(float(text))


def tail(base, nu, z):
    """The probability beyond z >= 0 under the standard law."""
    if base == "normal":
        return erfc(z / sqrt(2)) / 2
    if base == "logistic":
        return exp(-z) / (1 + exp(-z))
    if base == "laplace":
        return exp(-z) / 2
    if z * z < nu:
        # mpmath is slow near x = 1; the part in the middle needs digits for what its complement loses.
        lost = int((nu + 1) / 2 * log1p(z * z / nu) / ln(mpf(10))) + 10
        with workdps(mp.dps + lost):
            return mpf(1) / 2 - betainc(mpf(1) / 2, nu / 2, 0, z * z / (nu + z * z), regularized=True) / 2
    return betainc(nu / 2, mpf(1) / 2, 0, nu / (nu + z * z), regularized=True) / 2


def density(base, nu, z):
    if base == "normal":
        return exp(-z * z / 2) / sqrt(2 * pi)
    if base == "logistic":
        return exp(-abs(z)) / (1 + exp(-abs(z))) ** 2
    if base == "laplace":
        return exp(-abs(z)) / 2
    return gamma((nu + 1) / 2) / gamma(nu / 2) / sqrt(nu * pi) * (1 + z * z / nu) ** (-(nu + 1) / 2)


class Law:
    def __init__(self, base, nu, location, left, right):
        self.base, self.nu = base, nu
        self.location, self.left, self.right = location, left, right

    def side(self, y):
        return self.left if y <= self.location else self.right

    def share(self, y):
        """Twice the probability of the side of y."""
        return 2 * self.side(y) / (self.left + self.right)

    def beyond(self, y):
        """The probability of what lies further out on the side of y."""
        return self.share(y) * tail(self.base, self.nu, abs(y - self.location) / self.side(y))

    def cdf(self, y):
        return self.beyond(y) if y <= self.location else 1 - self.beyond(y)

    def exceed(self, y):
        return 1 - self.beyond(y) if y <= self.location else self.beyond(y)

    def density(self, y):
        return 2 / (self.left + self.right) * density(self.base, self.nu, abs(y - self.location) / self.side(y))

    def crps(self, y, lower=-inf, upper=inf):
        """The integral of the squared difference to the step at y, between the bounds."""
        return self.part(lambda x: self.cdf(x) ** 2, lower, y) + self.part(lambda x: self.exceed(x) ** 2, y, upper)

    def part(self, f, a, b):
        if not a < b:
            return mpf(0)
        marks = [self.location + m * self.left for m in (-300, -40, -12, -5, -2, -1, 0)]
        marks += [self.location + m * self.right for m in (1, 2, 5, 12, 40, 300)]
        points = [a] + [m for m in marks if a < m < b] + [b]
        return quad(f, points)

    def moment(self, f):
        return self.part(lambda y: f(y) * self.density(y), -inf, inf)


def gaussian_quantile(log_cdf, log_exceed):
    """The x whose Gaussian distribution function is as given; of the smaller tail."""
    log_tail = min(log_cdf, log_exceed)
    sign = -1 if log_cdf < log_exceed else 1
    guess = sqrt(-2 * log_tail) if log_tail < -3 else mpf("0.5")
    # log of the Gaussian tail, which mpmath's erfc has for any argument
    x = findroot(lambda x: ln(erfc(x / sqrt(2)) / 2) - log_tail, guess)
    return sign * x


def text(x):
    return mp.nstr(x, 20, strip_zeros=True) if x == x else "nan"


def row(*cells):
    print(",".join(c if isinstance(c, str) else text(c) for c in cells), flush=True)


def in_nu(base, nu, f):
    """The derivative of f(nu), nan where the law has no such number."""
    if base != "t":
        return mpf("nan")
    h = mpf("1e-8")
    return (f(nu + h) - f(nu - h)) / (2 * h)


def points():
    for base, nu in BASES:
        for law in LAWS:
            l = Law(base, number(nu), *map(number, law))
            for e in ("-90", "-25", "-6", "-1.5", "-0.3", "0", "0.001", "0.7", "2.5", "8", "36"):
                y = str(float(law[0]) + float(e))
                at = number(y)
                sign = 1 if at <= l.location else -1
                both = (ln(l.beyond(at)), log1p(-l.beyond(at)))[::sign]
                # Derivatives in nu are slow: some of the points.
                few = e in ("-25", "-1.5", "0.7", "8")
                other = lambda nu, l=l: Law(l.base, nu, l.location, l.left, l.right)
                dcrps = in_nu(base, l.nu, lambda nu: other(nu).crps(at)) if few else mpf("nan")
                dcdf = sign * in_nu(base, l.nu, lambda nu: other(nu).beyond(at))
                row("point", base, str(nu), *law, y, l.cdf(at), l.exceed(at), *both, ln(l.density(at)), l.crps(at),
                    gaussian_quantile(*both), dcdf, dcrps)


def moments():
    for base, nu in BASES:
        for law in LAWS:
            l = Law(base, number(nu), *map(number, law))
            mean = l.moment(lambda y: y - l.location) + l.location
            spread = l.moment(lambda y: (y - mean) ** 2) if base != "t" or l.nu > 2 else mpf("nan")
            row("moments", base, str(nu), *law, mean, spread)


def integrals():
    for base, nu in BASES:
        l = Law(base, number(nu), mpf(0), mpf(1), mpf(1))
        for z in ("-30", "-11", "-4.5", "-3", "-1.9", "-0.6", "0", "1.2", "9"):
            at = number(z)
            # The quadrature ends at an absolute error, which small numbers must not meet too early.
            unit = l.cdf(at)
            row("integrals", base, str(nu), "0", "1", "1", z, l.part(lambda x: l.cdf(x) / unit, -inf, at) * unit,
                l.part(lambda x: (l.cdf(x) / unit) ** 2, -inf, at) * unit ** 2)


def censored():
    bounds = [("0", "inf"), ("-inf", "3"), ("-0.5", "2.5"), ("4", "9")]
    for base, nu in BASES:
        # The last is much wider than the bounds.
        for law in LAWS[:2] + [("5", "1000", "300")]:
            l = Law(base, number(nu), *map(number, law))
            for lower, upper in bounds if law[0] != "5" else bounds[2:]:
                for y in dict.fromkeys([lower, upper, "1", "2.25", "5"]):
                    at = number(y)
                    if abs(at) == inf or at < number(lower) or at > number(upper):
                        continue
                    if at == number(lower):
                        score = -ln(l.cdf(at))
                    elif at == number(upper):
                        score = -ln(l.exceed(at))
                    else:
                        score = -ln(l.density(at))
                    row("censored", base, str(nu), *law, lower, upper, y, l.crps(at, number(lower), number(upper)), score)


def log_normal():
    for mu, sigma in (("0", "1"), ("-2", "0.25"), ("3", "2"), ("1", "0.001")):
        m, s = number(mu), number(sigma)
        cdf = lambda x: erfc(-(ln(x) - m) / s / sqrt(2)) / 2 if x > 0 else mpf(0)
        exceed = lambda x: erfc((ln(x) - m) / s / sqrt(2)) / 2
        for times in ("0.01", "0.5", "1", "1.0005", "3", "40"):
            y = str(float(exp(m)) * float(times))
            at = number(y)
            # over ln x, where the integrand is smooth
            marks = [m + k * s for k in (-60, -20, -8, -3, 0, 3, 8, 20, 60)]
            lower = quad(lambda t: cdf(exp(t)) ** 2 * exp(t), [m - 100 * s] + [k for k in marks if k < ln(at)] + [ln(at)])
            upper = quad(lambda t: exceed(exp(t)) ** 2 * exp(t), [ln(at)] + [k for k in marks if k > ln(at)] + [m + 100 * s])
            score = (ln(at) - m) ** 2 / (2 * s * s) + ln(at * s * sqrt(2 * pi))
            row("log_normal", "", "0", mu, sigma, "0", y, cdf(at), exceed(at), score, lower + upper)


if __name__ == "__main__":
    print("# point: y, cdf, exceed, log_cdf, log_exceed, log_density, crps, gaussian_quantile, dcdf/dnu, dcrps/dnu")
    print("# moments: mean, variance")
    print("# integrals: z, integral of the cdf up to z, integral of its square")
    print("# censored: lower, upper, y, crps, log score")
    print("# log_normal: mu, sigma, -, y, cdf, exceed, log score, crps")
    for part in sys.argv[1:] or ["moments", "integrals", "censored", "log_normal", "points"]:
        globals()[part]()
