import math

from hypothesis import given
from hypothesis import strategies as st

from nkiport.lowering.ir import Window
from nkiport.lowering.sharing import ALIGNED, Sizes, sharing, side_by_side, slot_of
from nkiport.nki import target

PARTITIONS = 128
small = st.integers(1, 9)
shapes = st.tuples(small, small, small)


@st.composite
def convolutions(draw):
    size, stride, dilation = draw(shapes), draw(shapes), draw(shapes)
    groups = draw(st.integers(1, 64))
    window = Window((99, 99, 99), size, stride, (0, 0, 0), dilation, draw(shapes), groups)
    return Sizes(
        window, draw(st.integers(1, 300)), draw(st.integers(1, 300)), draw(st.sampled_from([2, 4]))
    )


@given(convolutions(), st.booleans())
def test_what_shares_fits_the_partitions(sizes, between):
    found = sharing(sizes, target("trn1"), between=between)
    rows = side_by_side(sizes.window, found.rows).size[1]

    if found.shared:
        assert found.high * found.wide * found.groups * sizes.channels <= PARTITIONS
    if found.rows > 1:
        assert found.rows * slot_of(found.groups * sizes.results) <= PARTITIONS
    assert between or found.rows == 1
    assert sizes.window.groups % found.groups == 0
    assert found.high <= rows
    assert found.wide <= sizes.window.size[2]


@given(convolutions(), st.integers(1, 4))
def test_rows_beside_each_other_read_what_they_read_alone(sizes, rows):
    alone, together = sizes.window, side_by_side(sizes.window, rows)
    last = (together.out[1] - 1) * together.stride[1] + (rows - 1) * alone.stride[1]

    assert together.out[1] == math.ceil(alone.out[1] / rows)
    assert last >= (alone.out[1] - 1) * alone.stride[1]
    assert together.size[1] - alone.size[1] == (rows - 1) * alone.stride[1]


@given(st.integers(1, 300))
def test_rows_begin_where_an_instruction_may(channels):
    assert slot_of(channels) % ALIGNED == 0
    assert 0 <= slot_of(channels) - channels < ALIGNED


def test_few_channels_fill_the_partitions():
    stem = Window((1, 224, 224), (1, 7, 7), (1, 2, 2), (0, 3, 3), (1, 1, 1), (1, 112, 112))
    found = sharing(Sizes(stem, 3, 64, 4, images=8), target("trn1"), between=True)

    assert found.rows * slot_of(64) == PARTITIONS
    assert found.high * found.wide * 3 > PARTITIONS // 2


def test_many_channels_need_no_sharing():
    deep = Window((1, 14, 14), (1, 3, 3), (1, 1, 1), (0, 1, 1), (1, 1, 1), (1, 14, 14))
    assert not sharing(Sizes(deep, 512, 512, 4, images=8), target("trn1"), between=True).shared
