"""Ten thousand mutated answers: each gives a value that its text holds, or an OutputError."""

import json
import random
import re
from collections import Counter
from typing import Literal

from pydantic import BaseModel, Field

from afterwit.errors import OutputError
from afterwit.model import Ask, Message, Reply, normalised
from afterwit.ports import ScriptedChat
from afterwit.structured.answer import answer
from afterwit.structured.schema import schema_of
from afterwit.structured.shape import number

TIMES = 10_000
KINDS = {"empty", "cut", "looping", "schema echo", "not json", "ambiguous", "schema"}


class Note(BaseModel):
    text: str
    bank: Literal["planning", "execution"]


class Verdict(BaseModel):
    stage: Literal["planning", "execution", "both", "neither"]
    percent: int = Field(ge=0, le=100)
    notes: list[Note] = []
    reason: str | None = None


class Quotes(BaseModel):
    quotes: list[str] = []


LINE = (
    "check the order before a refund 订单 退款 vérifie l'été résumé ☂ 🙂 \u0627\u0644\u0637\u0644\u0628 don't say yes"
)
WORDS = [*LINE.split(), '"quoted"', "{a}", "[1]", "a\\b"]
ASK = Ask(messages=(Message(role="user", content="?"),))


def prose(random_: random.Random) -> str:
    return " ".join(random_.choices(WORDS, k=random_.randint(1, 12)))


def sound(random_: random.Random, model: type[BaseModel]) -> dict[str, object]:
    if model is Quotes:
        return {"quotes": [prose(random_) for _ in range(random_.randint(1, 4))]}
    notes = [
        {"text": prose(random_), "bank": random_.choice(["planning", "execution"])}
        for _ in range(random_.randint(0, 3))
    ]
    stage = random_.choice(["planning", "execution", "both", "neither"])
    return {"stage": stage, "percent": random_.randint(0, 100), "notes": notes, "reason": prose(random_)}


def mutate(random_: random.Random, value: dict[str, object], model: type[BaseModel]) -> str:
    text = json.dumps(value, ensure_ascii=random_.random() < 0.3, indent=random_.choice([None, None, 2]))
    for _ in range(random_.randint(1, 3)):
        text = random_.choice(MUTATIONS)(random_, text, model)
    return text


def _cut(r: random.Random, text: str, _: type[BaseModel]) -> str:
    return text[: r.randrange(len(text) + 1)]


def _fence(r: random.Random, text: str, _: type[BaseModel]) -> str:
    before, name, after = r.choice(["", "Sure:", prose(r)]), r.choice(["", "json", "JSON"]), r.choice(["", " Done."])
    return f"{before}\n```{name}\n{text}\n```{after}"


def _surround(r: random.Random, text: str, _: type[BaseModel]) -> str:
    return f"{prose(r)} {text} {prose(r)}"


def _trailing_comma(r: random.Random, text: str, _: type[BaseModel]) -> str:
    return re.sub(r"([}\]])", lambda m: r.choice([",", ""]) + m[1], text)


def _raw_newline(r: random.Random, text: str, _: type[BaseModel]) -> str:
    at = r.randrange(len(text) + 1)
    return text[:at] + r.choice(["\n", "\t", "\r\n", "\x00"]) + text[at:]


def _case(r: random.Random, text: str, _: type[BaseModel]) -> str:
    word = r.choice(["planning", "execution", "stage", "percent", "quotes"])
    return text.replace(word, r.choice([word.upper(), word.title(), f" {word} "]))


def _words_for_numbers(r: random.Random, text: str, _: type[BaseModel]) -> str:
    return re.sub(
        r'"percent": \d+',
        lambda m: '"percent": ' + r.choice(['"forty two"', '"42%"', '"42"', '"some"', "42.0", "true", "null"]),
        text,
    )


def _drop_or_double(r: random.Random, text: str, _: type[BaseModel]) -> str:
    a, b = sorted(r.randrange(len(text) + 1) for _ in range(2))
    return text[:a] + text[b:] if r.random() < 0.5 else text[:b] + text[a:]


def _flip(r: random.Random, text: str, _: type[BaseModel]) -> str:
    at = r.randrange(len(text) + 1)
    return text[:at] + r.choice('{}[]",:\\ \u202ea0') + text[at + 1 :]


def _echo(r: random.Random, text: str, model: type[BaseModel]) -> str:
    schema = json.dumps(schema_of(model))
    return r.choice([schema, f"{schema}\n{text}", f"```json\n{schema}\n```"])


def _top_list(r: random.Random, text: str, _: type[BaseModel]) -> str:
    return r.choice([f"[{text}]", text[text.find("[") : text.rfind("]") + 1] or "[]", "[]", "{}"])


def _loop(r: random.Random, text: str, _: type[BaseModel]) -> str:
    return (text + " ") * r.randint(2, 6) if r.random() < 0.5 else text + " and so on" * r.randint(1, 300)


def _empty(r: random.Random, _text: str, _: type[BaseModel]) -> str:
    return r.choice(["", " ", "\n", "null", "None", '""'])


def _rename(r: random.Random, text: str, _: type[BaseModel]) -> str:
    return text.replace(r.choice(["stage", "percent", "notes", "reason", "quotes", "text"]), prose(r).replace('"', ""))


MUTATIONS = [_cut, _fence, _surround, _trailing_comma, _raw_newline, _case, _words_for_numbers, _drop_or_double, _flip]
MUTATIONS += [_echo, _top_list, _loop, _empty, _rename]


ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)


def told(value: BaseModel, text: str) -> bool:
    """Whether everything that the value says stands in the text, blanks and letter case apart."""
    plain = squeezed(ESCAPE.sub(unescaped, text).encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
    numbers = {number(each.removesuffix("%")) for each in re.findall(r'":\s*"([^"]{1,30})"', text)}
    numbers |= {float(each) for each in re.findall(r"\d+(?:\.\d+)?", text)}

    def stands(part: object) -> bool:
        if isinstance(part, dict | list):
            return all(stands(item) for item in (part.values() if isinstance(part, dict) else part))
        if isinstance(part, int):
            return part in numbers
        if part is None:
            return True
        return squeezed(str(part)) in plain

    return stands(value.model_dump())


def unescaped(match: re.Match[str]) -> str:
    code, letter = match.groups()
    return chr(int(code, 16)) if code else ESCAPED.get(letter, letter)


def squeezed(text: str) -> str:
    return "".join(normalised(text.replace("\0", "\ufffd")).split())


def end_of(random_: random.Random) -> str:
    """One question, answered twice if need be; how it ended. Fails where what came back was not said."""
    model = random_.choice([Verdict, Verdict, Quotes])
    texts = [mutate(random_, sound(random_, model), model) for _ in range(2)]
    chat = ScriptedChat(*(Reply(text=text, finish=random_.choice(["stop", "stop", "length"])) for text in texts))
    try:
        value = answer(chat, ASK, model)
    except OutputError as error:
        return error.kind if len(chat.asked) == 2 else "without a repair"
    said = texts[len(chat.asked) - 1]
    assert told(value, said), (value, said)
    assert value != Quotes() or re.search(r"\[\s*,?\s*\]", said), said
    return "value"


def test_ten_thousand_mutated_answers_end_in_a_value_that_was_said_or_in_a_typed_error() -> None:
    random_ = random.Random(20260)
    ends = Counter(end_of(random_) for _ in range(TIMES))
    assert set(ends) == KINDS | {"value"}
    assert ends["value"] > TIMES / 4
