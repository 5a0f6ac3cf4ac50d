"""Joint effects: what each decision adds when the others of the same item are held fixed (design section 6).

    β̂ = argmin Σ_i a_i (ỹ_i − x̃_i β)² + Σ_d β_d² / s_k(d)²

x̃, ỹ: degrees of decisions and log rates less their a-weighted stratum means; a_i = ω_i / (1/E_i + σ_b²) as in
`contrast`. Each decision is a random effect whose variance s_k² is that of its kind k: what a text says (words,
patterns, what was declared), or what it means (likeness to exemplars). They are found by moments (Haseman–Elston
regression without the diagonal, a component a kind): with z_k = X̃_k'Aỹ, G_kl = X̃_k'AX̃_l and κ_ik = ‖x̃_ik‖², and
centring alone making residuals of one stratum correlate by −1/Σ_s a,

    Σ_l s_l² (‖G_kl‖_F² − Σ a_i² κ_ik κ_il) = ‖z_k‖² − Σ a_i² ỹ_i² κ_ik − Σ a_i² κ_ik / Σ_s a      for each k

by non-negative least squares, each equation divided by its own scale. ‖G_kl‖_F² = E‖G_kl g‖² over random signs g
(Hutchinson), 64 seeded probes in the space of decisions, so that the order of items does not matter. No excess of
‖z_k‖² means s_k² = 0 and every effect of that kind 0. What is found is of the past and serves the future, where
effects drift: half of each s_k² is used (docs/adr/0012). The system is solved by conjugate gradients,
preconditioned by its diagonal. This penalty for the within-stratum ridge is our own choice.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import optimize, sparse

from afterwit.credit.items import Bools, Design, Floats, Items
from afterwit.credit.semantic.contrast import Rates, rates, stratum_means
from afterwit.decisions.likeness import NAME as MEANING

_PROBES = 64
_ITERATIONS = 300
_TOLERANCE = 1e-6
_CAUTION = 0.5


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
        """Σ_i a_i x̃_id², (D,): Σ a x² − Σ_s (Σ_s a) M_sd²."""
        return np.asarray(self.transposed.power(2) @ self.weight - self.means.power(2).T @ self.total, dtype=np.float64)

    def column(self, place: int) -> Floats:
        """X̃'AX̃e_d, (D,): one column of the Gram matrix, whose whole nobody needs."""
        shown = np.zeros(self.matrix.shape[0])
        of = slice(*self.transposed.indptr[place : place + 2])
        shown[self.transposed.indices[of]] = self.transposed.data[of]
        mean = self.rates.sums(self.weight * shown) / self.total
        return self.backward(shown - mean[self.rates.stratum])

    def lengths(self, among: Bools) -> Floats:
        """κ_i = ‖x̃_i‖² over some of the decisions, (m,)."""
        matrix, means = self.matrix[:, among], self.means[:, among]
        own, squares = (np.asarray(m.power(2).sum(axis=1)).ravel() for m in (matrix, means))
        cross = np.asarray(matrix.multiply(means[self.rates.stratum]).sum(axis=1)).ravel()
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


def kinds(names: Sequence[str]) -> tuple[Bools, ...]:
    """Masks over the decisions, one a kind that there is: what is said, what is meant."""
    meant = np.array([name.startswith(f"{MEANING}=") for name in names], dtype=np.bool_)
    return tuple(mask for mask in (~meant, meant) if mask.any())


def effect_variances(centred: Centred, of: Sequence[Bools]) -> Floats:
    """s_k² ≥ 0 of each kind, by the moments above; of: masks over the decisions."""
    if not len(centred.y) or not len(of):
        return np.zeros(len(of))
    a, z = centred.weight, centred.backward(centred.y)
    kappa = [centred.lengths(mask) for mask in of]
    tied = a * a / centred.total[centred.rates.stratum]
    excess = [float(z[mask] @ z[mask] - ((a * centred.y) ** 2 + tied) @ k) for mask, k in zip(of, kappa, strict=True)]
    coins = np.random.default_rng(0).integers(0, 2, size=(centred.matrix.shape[1], _PROBES))
    signs: Floats = np.asarray(2 * coins - 1, dtype=np.float64)
    scale = np.zeros((len(of), len(of)))
    for j, mask in enumerate(of):
        image = centred.backward(centred.forward(signs * mask[:, None])) ** 2
        for i, other in enumerate(of):
            scale[i, j] = float(image[other].sum()) / _PROBES - float((a * kappa[i]) @ (a * kappa[j]))
    own = np.diag(scale)
    able = np.flatnonzero(own > 0)
    found = np.zeros(len(of))
    if len(able):
        parts = scale[np.ix_(able, able)] / own[able, None]
        found[able] = optimize.nnls(parts, np.array(excess)[able] / own[able])[0]
    return found


def ridge(centred: Centred, variance: Floats, *, start: Floats | None = None) -> Floats:
    """β̂ for the prior variance of each decision, (D,); start: an earlier solution to begin from."""
    n = centred.matrix.shape[1]
    free = variance > 0
    if not free.any():
        return np.zeros(n)
    penalty = np.where(free, 1 / np.where(free, variance, 1.0), 0.0)
    z = np.where(free, centred.backward(centred.y), 0.0)
    scaling = np.where(free, 1 / (centred.gram_diagonal() + np.where(free, penalty, 1.0)), 0.0)
    beta = np.zeros(n) if start is None else np.where(free, start, 0.0)
    residual = np.where(free, z - centred.backward(centred.forward(beta)) - penalty * beta, 0.0)
    enough = _TOLERANCE * float(np.linalg.norm(z))
    direction = scaling * residual
    size = float(residual @ direction)
    for _ in range(_ITERATIONS):
        if float(np.linalg.norm(residual)) <= enough:
            break
        image = np.where(free, centred.backward(centred.forward(direction)), 0.0) + penalty * direction
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
    of = kinds(design.names)
    variance = np.zeros(len(design.names))
    for mask, found in zip(of, effect_variances(centred, of), strict=True):
        variance[mask] = _CAUTION * found
    return ridge(centred, variance, start=start)
