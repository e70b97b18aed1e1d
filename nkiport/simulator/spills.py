"""What does not fit into SBUF: tiles wait in HBM until they are needed."""

from collections import defaultdict
from collections.abc import Iterator
from heapq import heappop, heappush

from nkiport.nki import Target, Work
from nkiport.nki.dtypes import UINT8
from nkiport.simulator.trace import Instruction, Room, Trace

SAVE, RELOAD = "nl.store", "nl.load"


def with_spills(trace: Trace, chip: Target) -> Iterator[Instruction]:
    """Yield the instructions, and around each what must be saved and loaded again for it.

    The tile that is needed last leaves first: no order of evictions moves less. A tile that still
    is what a load brought is not saved, only loaded again. Loops are taken as they are written.
    """
    rooms = {room.number + block: room for room in trace.rooms for block in range(room.tiles)}
    if sum(room.bytes for room in rooms.values()) <= chip.sbuf_bytes:
        return iter(trace.instructions)
    return _Allocation(trace.instructions, rooms, chip.sbuf_bytes).run()


class _Allocation:
    """Which tiles are in SBUF while the instructions run."""

    def __init__(
        self, instructions: tuple[Instruction, ...], rooms: dict[int, Room], left: int
    ) -> None:
        self._instructions = instructions
        self._rooms = rooms
        self._left = left
        """Bytes of a partition that nobody uses; negative until enough was evicted."""
        self._uses: dict[int, list[int]] = defaultdict(list)
        """Where each tile will be used, the next place last."""
        for place in range(len(instructions) - 1, -1, -1):
            for tile in self._tiles(instructions[place]):
                self._uses[tile].append(place)
        self._resident: set[int] = set()
        self._away: set[int] = set()
        self._saved: set[int] = set()
        """Tiles whose values HBM holds too."""
        self._queue: list[tuple[int, int]] = []
        """The next use, negated, and the tile; entries whose use is past are passed over."""

    def run(self) -> Iterator[Instruction]:
        """Yield the instructions with the traffic between them."""
        for each in self._instructions:
            needed = self._tiles(each)
            for tile in needed:
                self._uses[tile].pop()
                if tile in self._away:
                    self._away.discard(tile)
                    yield self._moved(RELOAD, tile, each.line)
                if tile not in self._resident:
                    self._resident.add(tile)
                    self._left -= self._rooms[tile].bytes
            yield from self._evictions(needed, each.line)
            yield each
            self._after(each, needed)

    def _tiles(self, each: Instruction) -> set[int]:
        return {tile for tile in (*each.reads, *each.writes) if tile in self._rooms}

    def _evictions(self, needed: set[int], line: int) -> Iterator[Instruction]:
        while self._left < 0 and self._queue:
            use, tile = heappop(self._queue)
            current = self._uses[tile] and -self._uses[tile][-1] == use
            if tile not in self._resident or tile in needed or not current:
                continue
            self._leave(tile)
            self._away.add(tile)
            if tile not in self._saved:
                self._saved.add(tile)
                yield self._moved(SAVE, tile, line)

    def _after(self, each: Instruction, needed: set[int]) -> None:
        for tile in needed:
            if tile in each.writes:
                (self._saved.add if each.op == RELOAD else self._saved.discard)(tile)
            if self._uses[tile]:
                heappush(self._queue, (-self._uses[tile][-1], tile))
            else:
                self._leave(tile)

    def _leave(self, tile: int) -> None:
        self._resident.discard(tile)
        self._left += self._rooms[tile].bytes

    def _moved(self, op: str, tile: int, line: int) -> Instruction:
        """A tile's way to HBM or back. Its values are there for nobody before it is back."""
        room = self._rooms[tile]
        work = Work(room.bytes, room.partitions, UINT8, room.partitions * room.bytes)
        written = (tile,) if op == RELOAD else ()
        return Instruction(op, "dma", "dma", room.partitions, work, line, (tile,), written)
