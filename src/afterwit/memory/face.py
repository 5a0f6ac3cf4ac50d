"""`Memory`, whole."""

from afterwit.memory.configuring import Configuring
from afterwit.memory.correcting import Correcting
from afterwit.memory.keeping import Keeping
from afterwit.memory.learning import Learning
from afterwit.memory.serving import Serving


class Memory(Serving, Correcting, Learning, Configuring, Keeping):
    """A bounded memory of one scope that learns from outcomes.

    url: a path of an SQLite file, ``:memory:``, ``postgresql://user:password@host/database?events=FOLDER``, or an
    `afterwit.compose.open_place` that several memories share. scope: isolates tenant and agent, as ``acme/push``.

    Settings live with the memory: what is left out is what is kept, else the default, and an explicit other value
    changes what is kept, as ``configure`` does bank by bank; with ``keep=False`` it holds for this opening alone.
    capacity: B, live cards a bank may hold (default 80). objective: the kind of event that cards are for (default
    ``click``). vocabulary: of named decisions in text, a bundled name or a path, kept by content; an empty text is
    none. meaning: also learn from what texts are like in meaning, at about a millisecond a text and round.

    generator: the agent's frozen generator, where credit should replay it; without one the built-in chooser
    replays the episodes that had candidates. create: whether an unknown scope is made or refused.
    model: who words new cards, checked against their evidence, and gates episodes where no gate is given: a `Chat`,
    or ``local``, ``openai:NAME``, ``anthropic:NAME``. gate: says which stage an outcome is due to, for the banks
    ``planning`` and ``execution``; without model and gate, by evidence in the record alone.
    """
