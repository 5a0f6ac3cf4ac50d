"""A shop page of one item, with navigation and advertisements around it, as a page agent meets them."""

import random
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

_STYLE = (
    "body{font:16px sans-serif;margin:0;color:#222}nav,footer{background:#eee;padding:12px}nav a{margin-right:18px}"
    "main{display:flex;gap:24px;padding:24px}.image{width:320px;height:320px;background:#dde}.price{font-size:26px;"
    "font-weight:bold}aside{width:260px;background:#fff7e0;padding:12px}h1{font-size:30px}.ad{margin:12px 0;"
    "padding:8px;border:1px solid #cca}"
)
_LINKS = ("Home", "Deals", "Categories", "Gift cards", "Help", "Sign in", "Basket (0)")


def item_page(item: Mapping[str, Any], advertised: Sequence[Mapping[str, Any]], rng: random.Random) -> str:
    """HTML. The advertisements stand beside the item or before it, by chance; each is marked as one."""
    links = "".join(f'<a href="#">{name}</a>' for name in rng.sample(_LINKS, len(_LINKS)))
    advertisements = "".join(
        f'<div class="ad"><small>Sponsored</small><br>{_said(other, "title")}<br>{_price(other)} '
        f"<a href='#'>Shop now</a></div>"
        for other in advertised
    )
    aside = f"<aside>{advertisements}</aside>" if advertised else ""
    facts = "".join(
        f"<p>{label}: {_said(item, name)}</p>"
        for label, name in (("Brand", "brand"), ("Rating", "rating"))
        if item.get(name) not in (None, "")
    )
    price = f'<p class="price">{_price(item)}</p>' if item.get("price") not in (None, "") else ""
    available = "In stock" if item.get("available", True) else "Currently unavailable"
    body = (
        f"<div><h1>{_said(item, 'title')}</h1>{price}<p>{available}</p>{facts}"
        f"<button>Add to basket</button><h2>Description</h2><p>{_said(item, 'description')}</p></div>"
    )
    parts = [f'<div class="image"></div>{body}', aside]
    if rng.random() < 0.3:
        parts.reverse()
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{_said(item, "title")}</title>'
        f"<style>{_STYLE}</style></head><body><nav>{links}</nav><main>{''.join(parts)}</main>"
        "<footer>About us · Returns · Privacy</footer></body></html>"
    )


def _said(item: Mapping[str, Any], name: str) -> str:
    value = item.get(name)
    return escape(" ".join(map(str, value)) if isinstance(value, list) else str(value if value is not None else ""))


def _price(item: Mapping[str, Any]) -> str:
    price = item.get("price")
    if isinstance(price, int | float) and not isinstance(price, bool):
        return escape(f"{item.get('currency', '$')}{price:.2f}")
    return _said(item, "price")
