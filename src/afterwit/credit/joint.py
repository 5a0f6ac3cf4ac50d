"""Joint effects: what each decision adds when the others of the same item are held fixed (design section 6).

    β̂ = argmin Σ_i a_i (ỹ_i − x̃_i β)² + ‖β‖² / s²

x̃, ỹ: decisions and log rates less their a-weighted stratum means; a_i = ω_i / (1/E_i + σ_b²) as in `contrast`. Each
decision is a random effect with variance s², found by moments (Haseman–Elston regression without the diagonal):
with z = X̃'Aỹ, G = X̃'AX̃ and κ_i = ‖x̃_i‖², and centring alone making residuals of one stratum correlate by −1/Σ_s a,

    s² = (‖z‖² − Σ a_i² ỹ_i² κ_i − Σ a_i² κ_i / Σ_s a) / (‖G‖_F² − Σ a_i² κ_i²)

‖G‖_F² = E‖Gg‖² over random signs g (Hutchinson), 64 seeded probes in the space of decisions, so that the order of
items does not matter. No excess of ‖z‖² means s² = 0 and every effect 0. The system is solved by conjugate
gradients, preconditioned by its diagonal. This penalty for the within-stratum ridge is
our own choice.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from afterwit.credit.contrast import Rates, rates, stratum_means
from afterwit.credit.items import Design, Floats, Items

_PROBES = 64
_ITERATIONS = 300
_TOLERANCE = 1e-6


@dataclass(frozen=True, kw_only=True, eq=False)
class Centred:
    """The regression less its stratum means, never formed densely: X̃ = X − P M.

    matrix: X (m, D) and transposed (D, m), CSR. means: M (S, D). stratum: P as codes (m,). y: ỹ; weight: a; total:
    Σ a per stratum (S,).
    """

    rates: Rates
    matrix: sparse.csr_array
    transposed: sparse.csr_array
    means: sparse.csr_array
    y: Floats
    weight: Floats
    total: Floats

    def forward(self, beta: Floats) -> Floats:
        """X̃β, (m,) or (m, p)."""
        shown = self.matrix @ beta
        return np.asarray(shown - (self.means @ beta)[self.rates.stratum], dtype=np.float64)

    def backward(self, values: Floats) -> Floats:
        """X̃'A v for v that is centred within strata, (D,) or (D, p)."""
        weighted = (self.weight * values.T).T
        return np.asarray(self.transposed @ weighted, dtype=np.float64)

    def gram_diagonal(self) -> Floats:
        """Σ_i a_i x̃_id², (D,): Σ a x² − Σ_s (Σ_s a) M_sd², as X is 0 or 1."""
        return np.asarray(self.transposed @ self.weight - self.means.power(2).T @ self.total, dtype=np.float64)

    def column(self, place: int) -> Floats:
        """X̃'AX̃e_d, (D,): one column of the Gram matrix, whose whole nobody needs."""
        shown = np.zeros(self.matrix.shape[0])
        shown[self.transposed.indices[slice(*self.transposed.indptr[place : place + 2])]] = 1
        mean = self.rates.sums(self.weight * shown) / self.total
        return self.backward(shown - mean[self.rates.stratum])

    def lengths(self) -> Floats:
        """κ_i = ‖x̃_i‖², (m,)."""
        own = np.diff(self.matrix.indptr).astype(np.float64)
        means = self.means[self.rates.stratum]
        cross = np.asarray(self.matrix.multiply(means).sum(axis=1)).ravel()
        squares = np.asarray(self.means.power(2).sum(axis=1)).ravel()
        return np.asarray(own - 2 * cross + squares[self.rates.stratum], dtype=np.float64)


def stratum_centred(items: Items, design: Design, *, objective: str, given: Rates | None = None) -> Centred:
    """given: the rates of the same items, where the caller has them already."""
    r = given or rates(items, objective)
    matrix = design.matrix[r.rows].astype(np.float64)
    total = r.sums(r.weight)
    y = r.y - (r.sums(r.weight * r.y) / total)[r.stratum]
    return Centred(
        rates=r,
        matrix=matrix,
        transposed=sparse.csr_array(matrix.T.tocsr()),
        means=stratum_means(r, matrix),
        y=y,
        weight=r.weight,
        total=total,
    )


def effect_variance(centred: Centred) -> float:
    """s² ≥ 0, the variance of joint effects, by the moments above."""
    if not len(centred.y) or not centred.matrix.shape[1]:
        return 0.0
    a, kappa = centred.weight, centred.lengths()
    z = centred.backward(centred.y)
    own = float(((a * centred.y) ** 2) @ kappa)
    tied = float((a * a / centred.total[centred.rates.stratum]) @ kappa)
    coins = np.random.default_rng(0).integers(0, 2, size=(centred.matrix.shape[1], _PROBES))
    signs: Floats = np.asarray(2 * coins - 1, dtype=np.float64)
    frobenius = float((centred.backward(centred.forward(signs)) ** 2).sum()) / _PROBES
    scale = frobenius - float((a * kappa) @ (a * kappa))
    return max(0.0, (float(z @ z) - own - tied) / scale) if scale > 0 else 0.0


def ridge(centred: Centred, variance: float, *, start: Floats | None = None) -> Floats:
    """β̂ for the prior variance s², (D,); start: an earlier solution to begin from."""
    n = centred.matrix.shape[1]
    if variance <= 0 or not n:
        return np.zeros(n)
    penalty = 1 / variance
    z = centred.backward(centred.y)
    scaling = 1 / (centred.gram_diagonal() + penalty)
    beta = np.zeros(n) if start is None else start.astype(np.float64)
    residual = z - centred.backward(centred.forward(beta)) - penalty * beta
    enough = _TOLERANCE * float(np.linalg.norm(z))
    direction = scaling * residual
    size = float(residual @ direction)
    for _ in range(_ITERATIONS):
        if float(np.linalg.norm(residual)) <= enough:
            break
        image = centred.backward(centred.forward(direction)) + penalty * direction
        step = size / float(direction @ image)
        beta = beta + step * direction
        residual = residual - step * image
        scaled = scaling * residual
        size, before = float(residual @ scaled), size
        direction = scaled + (size / before) * direction
    return beta


def joint_effects(
    items: Items, design: Design, *, objective: str, start: Floats | None = None, given: Rates | None = None
) -> Floats:
    """Joint effect of every decision of the design on the log rate ratio, (D,)."""
    centred = stratum_centred(items, design, objective=objective, given=given)
    return ridge(centred, effect_variance(centred), start=start)
