"""Wordings that command the reader, by kind: matched on lower-case text without accents, within one sentence.

Our own list. It should stay quiet on advice that memory is made of ("refund to the original card", "ask the user
before you cancel", "never tell the user that it is done before it is").
"""

import re
from typing import Literal

Command = Literal["control", "override", "payment", "leak", "secrecy", "shell"]

_S = r"[^.!?\n]"  # within a sentence
_Z = r"[^。！？\n]"
_WORD = r"\b(?:{})\b"


def _near(first: str, *rest: str, gap: int = 40) -> str:
    """Words of one sentence in this order, at most so many characters apart."""
    return rf"{_S}{{0,{gap}}}?".join(_WORD.format(part) for part in (first, *rest))


_TO_MONEY = r"accounts?|wallets?|iban|(?:wallet|bitcoin|crypto|eth|btc) address|0x[0-9a-f]{6,}|bc1\w{6,}"
_MONEY = (
    r"funds?|money|payments?|cash|balances?|bitcoins?|btc|eth|usdt|crypto\w*|"
    r"\d[\d,.]* ?(?:usd|eur|gbp|dollars?|euros?|pounds?)"
)
_SECRETS = (
    r"passwords?|passphrases?|passcodes?|api[ _-]?keys?|secret keys?|private keys?|credentials?|access tokens?|"
    r"system prompts?|hidden instructions|seed phrases?|cvv"
)
_HAND_OUT = r"send|post|upload|forward|e-?mail|leak|reveal|print|disclose|share|paste|tell|give|show|repeat"

PATTERNS: tuple[tuple[Command, str], ...] = (
    ("control", r"<\|[^|<>\s]{1,40}\|>|\[/?inst\]|<</?sys>>|</?(?:system|assistant|developer)>"),
    # drop what you were told
    (
        "override",
        _near(
            r"ignore|disregard|forget|override|bypass",
            r"previous|prior|above|earlier|preceding|your|system|safety|all|any",
            r"instructions?|rules?|prompts?|policy|policies|guidelines?|guardrails?|directives?",
            gap=25,
        ),
    ),
    ("override", r"\byou are now (?:an?|in) |\bnew system (?:prompt|instructions?)\b|\bdeveloper mode\b"),
    (
        "override",  # Spanish, Portuguese, Italian
        _near(
            r"ignor(?:a|ad|ar|are|ate|e|en|em)|olvid\w*|esquec\w*|dimentic\w*",
            r"instruccion\w*|instruc(?:oes|ao)|istruzion\w*|reglas|regras|regole",
        ),
    ),
    (
        "override",  # French
        _near(
            r"(?:ignor|oubli)\w* (?:tou\w+ )?(?:les|ces|tes|vos|mes)", r"instructions?|consignes?|regles?|directives?"
        ),
    ),
    (
        "override",  # German, Dutch
        _near(
            r"ignorier\w*|vergiss|vergesst|missacht\w*|negeer|vergeet",
            r"anweisung\w*|vorgaben|regeln|instruktion\w*|instructies",
        ),
    ),
    ("override", rf"(?:игнорир|забудь|забудьте)\w*{_S}{{0,40}}?(?:инструкц|указани|правил)"),
    ("override", rf"(?:忽略|无视|無視|忘记|忘掉){_Z}{{0,16}}?(?:指令|指示|说明|說明|规则|規則|提示词|提示詞)"),
    ("override", rf"(?:指示|命令|ルール|プロンプト){_Z}{{0,8}}?(?:無視|忘れ)"),
    ("override", rf"(?:지시|명령|규칙){_S}{{0,12}}?무시"),
    ("override", rf"(?:تجاهل|انس){_S}{{0,40}}?(?:التعليمات|الاوامر|القواعد)"),
    ("override", r"निर्देश[^।!?\n]{0,30}?(?:अनदेखा|नजरअंदाज)"),
    # money to a named place
    ("payment", _near(r"send|wire|transfer|pay|forward|deposit|move|remit", _MONEY, r"to|into", _TO_MONEY)),
    ("payment", rf"\b(?:send|wire|transfer|pay|deposit)\b{_S}{{0,20}}?[$€£] ?\d[\d,]*{_S}{{0,40}}?\b(?:{_TO_MONEY})"),
    (
        "payment",  # Spanish, Portuguese, French, Italian
        _near(
            r"envi\w*|envoy\w*|transf\w*|vire[rz]?|verse[rz]?|invi\w*|trasfer\w*|deposit\w*",
            r"fondos|dinero|pagos?|fundos|dinheiro|fonds|argent|paiements?|soldi|fondi|denaro",
            r"cuenta|conta|compte|conto|cartera|billetera|carteira|portefeuille|wallet|iban",
        ),
    ),
    (
        "payment",  # German, Dutch
        _near(
            r"uberweis\w*|schick\w*|send\w*|stuur", r"geld\w*|betrag|zahlung\w*|guthaben", r"konto|rekening|wallet|iban"
        ),
    ),
    ("payment", rf"(?:переве|перевод|отправ)\w*{_S}{{0,40}}?(?:деньги|средства|платеж){_S}{{0,40}}?(?:счет|кошел)"),
    ("payment", rf"(?:转账|轉賬|汇款|匯款|打款|转钱){_Z}{{0,12}}?(?:到|至|给|給)"),
    ("payment", rf"(?:资金|資金|钱|錢|款项?){_Z}{{0,8}}?(?:转|轉|汇|匯|打)(?:入|到|至|给|給)"),
    ("payment", rf"口座{_Z}{{0,12}}?(?:送金|振り込|振込)"),
    ("payment", rf"(?:حول|ارسل){_S}{{0,40}}?(?:الاموال|المال|مبلغ){_S}{{0,40}}?(?:حساب|محفظ)"),
    # data or secrets handed out
    ("leak", _near(_HAND_OUT, _SECRETS)),
    (
        "leak",
        _near(r"send|post|upload|forward|e-?mail|copy", r"data|records|details|history|conversations?|files?", r"to|at")
        + rf"{_S}{{0,30}}?(?:https?://|www\.|\S+@\S+|\bwebhook|\bexternal\b|\bthird.part)",
    ),
    ("leak", r"\bexfiltrat\w+|https?://[^\s]{1,80}[?&][\w-]{1,20}=(?:\{|<|\$|%7b)"),
    (
        "leak",
        _near(
            r"envi\w*|envoy\w*|revel\w*|schick\w*|sende\w*|invi\w*|rivel\w*|verrat\w*",
            r"contrasen\w*|senhas?|mots? de passe|passwort\w*|zugangsdaten|password|credenzial\w*|credencia\w*",
        ),
    ),
    (
        "leak",
        rf"(?:发送|发给|告诉|透露|泄露|上传|發送|告訴|洩露){_Z}{{0,16}}?(?:密码|密碼|密钥|密鑰|系统提示|系統提示)",
    ),
    # the user kept in the dark
    (
        "secrecy",
        r"(?:^|(?<=[.!?;\n]))(?:(?!\b(?:never|not|avoid|no|dont)\b|n't)[^.!?;\n])*"
        r"\bwithout (?:ever )?(?:telling|informing|notifying|alerting) (?:the |any)?(?:user|customer|owner|one|body)",
    ),
    (
        "secrecy",
        r"\b(?:do not|don't|never) (?:tell|inform|notify|alert) (?:the |your )?(?:user|customer|owner|operator)s? "
        r"(?:about (?:this|it|these)|of this|anything|what you)\b|\b(?:secret|hidden|hide (?:this|it)) from the "
        r"(?:user|customer|owner|operator)",
    ),
    ("secrecy", rf"(?:不要|别|別|勿)(?:告诉|告訴|通知|提醒){_Z}{{0,4}}?(?:用户|用戶|客户|客戶|任何人)"),
    # commands of a shell
    ("shell", r"\brm -[rf]{1,2}\b|\b(?:curl|wget)\b[^\n|]{1,120}\| ?(?:ba|z)?sh\b|\bsudo \w|\bdrop table\b"),
    ("shell", _near(r"run|execute|eval\w*", r"following|this|these", r"commands?|scripts?|code", gap=15)),
)

COMPILED = tuple((kind, re.compile(pattern)) for kind, pattern in PATTERNS)
