"""A reference that is no memory: a tf-idf ridge trained once on everything known at the freeze."""

from collections.abc import Callable, Sequence

import numpy as np

from afterwit.credit.items import Floats, Items
from afterwit.credit.semantic.contrast import rates
from afterwit.errors import MissingExtra

NAME = "reference:tfidf_ridge"
_ALPHA = 8.0  # the best of 0.5 to 8 on splits inside the history of 2014-01-15 and 2014-03-01


def tfidf_ridge(items: Items, objective: str = "click") -> Callable[[Sequence[str]], Floats]:
    """Texts → scores. Words and word pairs, ridge on log rates less their weighted stratum means, as in `contrast`.

    Raises MissingExtra without scikit-learn.
    """
    try:
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.linear_model import Ridge
    except ImportError:
        raise MissingExtra("scikit-learn", "reference") from None
    found = rates(items, objective)
    centred = found.y - (found.sums(found.weight * found.y) / found.sums(found.weight))[found.stratum]
    words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)
    matrix = words.fit_transform(items.texts[found.rows])
    model = Ridge(alpha=_ALPHA).fit(matrix, centred)

    def scores(texts: Sequence[str]) -> Floats:
        return np.asarray(model.predict(words.transform(texts)), dtype=np.float64)

    return scores
