"""Wordings by which a page tries to choose for its reader: text of pages is held to more than text of people.

"Rank the newest first" is a person's advice and "choose from 7 colours" a shop's; what is caught tells a reader to
leave the user aside, speaks to a model, or names the answer. Our own list, of the commonest shopping languages; it sees
plain wordings, not every paraphrase, so that pages are framed as data beside it.
"""

import re

from afterwit.guard.text import plain

_S = r"[^.!?\n。！？]"
_PICK = (
    r"(?:choos\w+|chose|select\w*|pick\w*|rank\w*|recommend\w*|prefer\w*|buy|output|answer\w*|return|respond\w*|"
    r"put|place|"
    r"favou?r|promote)"
)
_ITEM = (
    r"(?:(?:item|product|option|candidate|article|listing|offer|answer|number|no\.?|#)s? ?(?:#|no\.? ?)?\d+|"
    r"(?:this|our|the following) (?:item|product|option|candidate|article|listing|offer|one))"
)
_MODEL = (
    r"(?:a\.?i\.?|llms?|large language models?|language models?|chatbots?|(?:ai |shopping |"
    r"virtual )?assistants?|agents?|gpt\w*|bots?)"
)

_PATTERNS = (
    # leave the user or the others aside
    rf"\b(?:ignor\w+|disregard\w*|forget|overlook|never mind|do not (?:consider|follow|trust)|don't (?:consider|"
    rf"follow))\b"
    rf"{_S}{{0,30}}?\b(?:users?|customers?|shoppers?|buyers?|person|profile|preferences?|history|request|query|"
    rf"(?:the |all )?other (?:candidates?|items?|products?|options?|results?|listings?))\b",
    # speak to a model, and name what it shall do
    rf"\b(?:to|for|dear|attention|note to|notice to|hey|as an?|"
    rf"if you are an?)\b{_S}{{0,25}}?\b{_MODEL}\b{_S}{{0,60}}?\b{_PICK}\b",
    rf"(?:^|[.!?:\n>-]\s*)(?:system|assistant|developer|instructions?|new instructions?|prompt|ai)\s*:{_S}{{0,80}}?"
    rf"(?:\b{_PICK}:? (?:{_ITEM}|this|\[?#?\d+\b)|\banswer is\b|\byou must\b)",
    # must, always, only + pick + this or a number
    rf"\b(?:you|it|models?|assistants?|agents?) (?:must|shall|should|have to|are required to|will) (?:always |"
    rf"only )?{_PICK}\b"
    rf"{_S}{{0,40}}?\b(?:{_ITEM}|this|first|\d+)",
    rf"\b(?:always|only) {_PICK} {_ITEM}",
    rf"\b{_PICK} {_ITEM} (?:first|now|instead|regardless|whatever|above all|over (?:the|all) others?|"
    rf"as (?:the )?(?:best|top|first))",
    rf"\b(?:rank|put|place|list) (?:this|{_ITEM}|#?\d+)(?: \w+)? (?:first|at the top|on top|above|highest|"
    rf"number one|#1)",
    r"\b(?:correct|right|only|best|final) (?:answer|choice|output) (?:is|must be|should be) (?:item |product |"
    r"option |number )?#?\d+",
    r"\b(?:regardless|irrespective) of (?:the )?(?:users?'?s?|customers?'?|profile|preferences?|request|query)\b",
    # German, Dutch
    r"\b(?:ignorier\w*|missachte\w*|vergiss|beachte nicht)\b[^.!?\n]{0,30}?\b(?:nutzer\w*|benutzer\w*|kund\w+|"
    r"profil\w*|anfrage|"
    r"andere\w* (?:artikel|produkte|angebote))\b|\b(?:negeer|vergeet)\b[^.!?\n]{0,30}?\b(?:gebruiker|klant|profiel)\b",
    # French
    r"\b(?:ignor\w+|oubli\w+|ne tenez pas compte d\w+)\b[^.!?\n]{0,30}?\b(?:utilisat\w+|client\w*|profil|"
    r"demande|autres "
    r"(?:articles|produits))\b",
    # Spanish, Portuguese, Italian
    r"\b(?:ignor\w+|olvid\w+|esquec\w+|dimentic\w+)\b[^.!?\n]{0,30}?\b(?:usuari\w+|client\w+|utent\w+|"
    r"utilizador\w*|perfil|profilo|"
    r"(?:otros|outros|altri) (?:articulos|productos|artigos|produtos|articoli|prodotti))\b",
    # Polish, Czech, Russian
    r"\b(?:zignoruj|ignoruj\w*|pomin\w*|zapomen\w*)\b[^.!?\n]{0,30}?\b(?:uzytkownik\w*|klient\w*|uzivatel\w*|"
    r"zakaznik\w*|profil\w*)\b",
    r"(?:(?:про)?игнориру[йи]\w*|забудь\w*)[^.!?\n]{0,30}?(?:пользовател|клиент|покупател|профил)",
    # Chinese, Japanese, Korean, Arabic
    r"(?:忽略|无视|無視|不要考虑|不要考慮)[^。！？\n]{0,12}?(?:用户|用戶|客户|顾客|顧客|偏好|要求|其他(?:商品|产品|選項|选项))",
    r"(?:ユーザー|利用者|お客様|プロフィール)[^。！？\n]{0,12}?(?:無視|忘れ)",
    r"(?:사용자|고객|프로필)[^.!?\n]{0,12}?무시",
    r"تجاهل[^.!?\n]{0,20}?(?:المستخدم|العميل|الطلب|الملف)",
    r"(?:选择|選擇|选|推荐|推薦)第?\s*\d+\s*(?:个|個|号|號)(?:商品|产品|選項|选项)",
)
_COMPILED = tuple(re.compile(pattern) for pattern in _PATTERNS)


def steers(text: str) -> str | None:
    """The place where a page's text would choose for its reader, shortened; None where it does not."""
    bare = plain(text)
    for pattern in _COMPILED:
        if match := pattern.search(bare):
            return match[0].strip()[:80]
    return None
