"""Random numbers of a sensor: a pure function of the seed, the sensor's name and the index of the sample.

So a sample has the same noise after a checkpoint, in an ensemble, in lockstep; another sensor changes nothing of it.
Philox 4x64-10 (Salmon et al. 2011) makes the bits. Normals are made of them by sums, products, quotients and square
roots alone, which have the same bits on every machine.
"""

import hashlib
import math

import numpy as np

LN2 = 0.6931471805599453
# Wichura (1988), Applied Statistics 37, 477, algorithm AS 241: rational functions, highest power first, then below it
CENTRAL = (
    (2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457)
    + (13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.3871328727963666080),
    (5226.4952788528545610, 28729.085735721942674, 39307.895800092710610, 21213.794301586595867)
    + (5394.1960214247511077, 687.18700749205790830, 42.313330701600911252, 1.0),
)
MIDDLE = (
    (7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1, 1.27045825245236838258)
    + (3.64784832476320460504, 5.76949722146069140550, 4.63033784615654529590, 1.42343711074968357734),
    (1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2, 1.48103976427480074590e-1)
    + (6.89767334985100004550e-1, 1.67638483018380384940, 2.05319162663775882187, 1.0),
)
FAR = (
    (2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3, 2.65321895265761230930e-2)
    + (2.96560571828504891230e-1, 1.78482653991729133580, 5.46378491116411436990, 6.65790464350110377720),
    (2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5, 7.86869131145613259100e-4)
    + (1.48753612908506148525e-2, 1.36929880922735805310e-1, 5.99832206555887937690e-1, 1.0),
)


class Noise:
    """The random numbers of one sample, in the order in which they are asked for."""

    def __init__(self, seed: int, name: str, index: int):
        """index: of the sample, 0 or more."""
        self._of = seed, name, index
        self._bits: np.random.Philox | None = None

    def uniform(self, count: int) -> list[float]:
        """Numbers between 0 and 1, neither included."""
        if self._bits is None:
            seed, name, index = self._of
            key = hashlib.sha256(f"{seed}/{name}".encode()).digest()[:16]
            self._bits = np.random.Philox(key=int.from_bytes(key, "little"), counter=index << 64)
        return [((word >> 12) + 0.5) * 2.0**-52 for word in self._bits.random_raw(count).tolist()]

    def normal(self, count: int) -> list[float]:
        """Of mean 0 and standard deviation 1."""
        return [inverse_normal(p) for p in self.uniform(count)]


def inverse_normal(p: float) -> float:
    """The x below which a normal number lies with probability p, to 1e-15 of it."""
    q = p - 0.5
    if abs(q) <= 0.425:
        return q * _ratio(CENTRAL, 0.180625 - q * q)
    r = math.sqrt(-log(p if q < 0.0 else 1.0 - p))
    x = _ratio(MIDDLE, r - 1.6) if r <= 5.0 else _ratio(FAR, r - 5.0)
    return -x if q < 0.0 else x


def log(x: float) -> float:
    """The natural logarithm of x > 0 to a few ulp: 2 artanh((m - 1)/(m + 1)) + k ln 2 for x = m 2^k, 0.7 < m < 1.42."""
    m, k = math.frexp(x)
    if m < 0.7071:
        m, k = 2.0 * m, k - 1
    f = (m - 1.0) / (m + 1.0)
    terms = 0.0
    for n in range(25, 0, -2):  # 0.1716^26 / 27 = 5e-22
        terms = terms * f * f + 1.0 / n
    return 2.0 * f * terms + k * LN2


def _ratio(polynomials: tuple[tuple[float, ...], tuple[float, ...]], x: float) -> float:
    above = below = 0.0
    for a, b in zip(*polynomials, strict=True):
        above, below = above * x + a, below * x + b
    return above / below
