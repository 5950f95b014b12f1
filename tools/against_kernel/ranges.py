"""What a peer has received."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Ranges:
    """Disjoint ranges of sequence numbers in order; the first begins at zero."""

    held: list[tuple[int, int]] = field(default_factory=list)

    @property
    def next(self) -> int:
        """The first number that is missing."""
        return self.held[0][1] if self.held and self.held[0][0] == 0 else 0

    def above(self) -> list[tuple[int, int]]:
        """The ranges behind a gap."""
        return [one for one in self.held if one[0] > self.next]

    def covers(self, left: int, right: int) -> bool:
        """Whether all of a range has been received."""
        return any(low <= left and right <= high for low, high in self.held)

    def add(self, left: int, right: int) -> None:
        """Adds a range."""
        kept = []
        for low, high in self.held:
            if high < left or right < low:
                kept.append((low, high))
            else:
                left, right = min(left, low), max(right, high)
        self.held = sorted([*kept, (left, right)])
