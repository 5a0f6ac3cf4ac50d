"""The text of a document, however it was written."""

import pytest

from afterwit.perceive.html import visible
from perceive_cases import texts


def test_blocks_are_lines_and_headings_keep_their_level() -> None:
    lines = visible("<h1>Aster <b>kettle</b></h1><p>One<br>two</p><table><tr><td>Brand<td>Bellis</table>")
    assert texts(lines) == ["Aster kettle", "One", "two", "Brand", "Bellis"]
    assert [line.heading for line in lines] == [1, 0, 0, 0, 0]
    assert lines[0].box.height > lines[1].box.height
    assert lines[1].box.top < lines[2].box.top


@pytest.mark.parametrize(
    "hidden",
    [
        "<script>price = '£1'</script>",
        "<style>p { color: red }</style>",
        "<div hidden>secret</div>",
        "<p style='display: none'>secret <b>more</b></p>",
        "<p style='Visibility:hidden'>secret</p>",
        "<template><p>secret</p></template>",
        "<nav><ul><li>secret<li>menu</ul></nav>",
        "<footer>secret</footer>",
        "<select><option>secret</select>",
        "<!-- secret -->",
        "<noscript>secret</noscript>",
        "<svg/><svg><text>secret</text></svg>",
    ],
)
def test_what_is_not_seen_and_what_leads_elsewhere_is_left_out(hidden: str) -> None:
    assert texts(visible(f"<p>before</p>{hidden}<p>after</p>")) == ["before", "after"]


@pytest.mark.parametrize(
    "element", ["<del>£12</del>", "<s>£12</s>", "<span style='text-decoration:line-through'>£12</span>"]
)
def test_struck_text_is_a_line_of_its_own(element: str) -> None:
    lines = visible(f"<p>was {element} £10</p>")
    assert [(line.text, line.struck) for line in lines] == [("was", False), ("£12", True), ("£10", False)]


def test_numbers_of_two_elements_stay_two() -> None:
    assert texts(visible("<p><b>12</b><sup>50</sup> €</p>")) == ["12 50 €"]


@pytest.mark.parametrize(
    ("html", "lines"),
    [
        ("", []),
        ("\0\0\0", []),
        ("</p></div>", []),
        ("<script>never closed", []),
        ("<p>" * 3_000 + "deep", ["deep"]),
        ("&#0;&#xD800;&nosuch; &amp", ["\ufffd\ufffd&nosuch; &"]),
    ],
)
def test_broken_documents_are_read_as_far_as_they_go(html: str, lines: list[str]) -> None:
    assert texts(visible(html)) == lines


def test_text_after_broken_markup_is_still_found() -> None:
    assert texts(visible("<div><p>one</div></section><p>two</b></p><li>three")) == ["one", "two", "three"]


def test_deep_nesting_ends() -> None:
    html = "<div>" * 20_000 + "deep" + "</div>" * 20_000 + "<p>after</p>"
    assert texts(visible(html)) == ["deep", "after"]


def test_every_script_is_kept_as_it_came() -> None:
    html = "<p>é e\u0301 😀 שלום مرحبا 谁</p>"
    assert texts(visible(html)) == ["é e\u0301 😀 שלום مرحبا 谁"]
