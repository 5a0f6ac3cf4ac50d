"""Lines off tiles become one page that reads as a person reads it."""

from afterwit.model.page import Box, Tile
from afterwit.perceive.layout import headed, joined, markdown, mended, ordered, page_text, type_size
from perceive_cases import line, texts


def tile(top: float, bottom: float) -> Tile:
    return Tile(png=b"", box=Box(left=0, top=top, width=800, height=bottom - top))


def test_a_line_that_two_tiles_show_is_read_once_and_whole() -> None:
    upper, lower = tile(0, 1040), tile(960, 2000)
    above, across, below = line("above", top=100), line("across", top=990), line("below", top=40 + 100)
    cut = line("acr", top=1030, height=10)  # the same page has it whole in the lower tile, at 1030 − 960
    whole = line("across 2", top=70, height=20)
    found = joined([(lower, [line("across", top=30), whole, below]), (upper, [above, across, cut])])
    assert texts(found) == ["above", "across", "across 2", "below"]
    assert [one.box.top for one in found] == [100, 990, 1030, 1100]


def test_columns_are_read_one_after_the_other_below_what_spans_them() -> None:
    left = [line(f"left column, row {row}", top=100 + 30 * row) for row in range(3)]
    right = [line(f"right column, row {row}", left=400, top=110 + 30 * row) for row in range(3)]
    page = [*right, line("foot of the page over both of its columns", top=300, width=600), *left]
    page.append(line("head of the page over both of its columns", width=600))
    assert texts(ordered(page)) == [
        "head of the page over both of its columns",
        *texts(left),
        *texts(right),
        "foot of the page over both of its columns",
    ]


def test_tables_are_read_row_by_row() -> None:
    rows = [("Brand", "Aster"), ("Colour", "steel grey"), ("Volume", "1.7 litres")]
    cells = [
        line(text, left=300 * column, top=30 * place)
        for place, row in enumerate(rows)
        for column, text in enumerate(row)
    ]
    assert texts(ordered(cells[::-1])) == [text for row in rows for text in row]


def test_right_to_left_rows_and_columns_begin_on_the_right() -> None:
    row = [line("السعر", left=300), line("٩٩ ر.س", left=100)]
    assert texts(ordered(row)) == ["السعر", "٩٩ ر.س"]
    first = [line(f"العمود الأول {n}", left=400, top=30 * n + 100) for n in range(3)]
    second = [line(f"العمود الثاني وهو أطول من ذلك {n}", left=0, top=30 * n + 103) for n in range(3)]
    assert texts(ordered([*second, *first])) == texts([*first, *second])


def test_pieces_of_large_type_are_one_line_and_columns_stay_two() -> None:
    name = [line("Aster", width=100, height=30, band=18), line("kettle", left=112, width=100, height=30, band=18)]
    assert texts(mended(name)) == ["Aster kettle"]
    assert mended(name)[0].box.width == 212
    apart = [name[0], line("kettle", left=160, width=100, height=30, band=18)]
    assert len(mended(apart)) == 2
    struck = [line("£12", band=10, struck=True), line("£10", left=26, band=12)]
    assert len(mended(struck)) == 2


def test_headings_are_told_by_their_type() -> None:
    body = [line("plain text of the page, at some length", top=20 * n + 100, height=16, band=9) for n in range(5)]
    name = line("Aster kettle", height=32, band=18)
    merged = line("two rows that ran together", height=60, band=18)
    part = line("Details", height=22, band=13)
    levels = [one.heading for one in headed([name, merged, part, *body])]
    assert levels == [1, 0, 2, 0, 0, 0, 0, 0]


def test_the_size_of_type_does_not_depend_on_which_letters_there_are() -> None:
    lower, capitals, digits = line("ease", band=9), line("PRICE", height=12, band=9), line("10 000", height=12, band=11)
    assert {round(type_size(one)) for one in (lower, capitals, digits)} == {17}
    assert round(type_size(line("PRICE", height=40, band=12))) == 17  # a frame around it
    dotted, deep = line("on a mission", height=12), line("Yes, it is", height=15)
    assert abs(type_size(dotted) - type_size(deep)) < 1


def test_markdown_marks_headings_struck_text_cells_and_gaps() -> None:
    lines = [
        line("Kettle", heading=1, height=32),
        line("£12", top=50, struck=True),
        line("£10", left=60, top=50),
        line("Steel", top=70),
        line("Later", top=200),
    ]
    assert markdown(lines) == "# Kettle\n~~£12~~ | £10\nSteel\n\nLater"


def test_an_empty_page_has_no_text() -> None:
    assert page_text([]).markdown == ""
    assert page_text([(tile(0, 100), [])]).lines == ()


def test_a_page_of_many_lines_is_ordered_in_time() -> None:
    page = [line(f"row {n}", top=20 * n) for n in range(3_000)]
    assert texts(ordered(page[::-1])) == texts(page)
