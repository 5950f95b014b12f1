"""Writes a random script from a seed, with our own TCP as the tested host, so that the peer answers what that sends."""

from __future__ import annotations

import heapq
import random
import socket
from collections.abc import Callable
from dataclasses import dataclass, field

from .odd import odd_segment
from .ours import Ours
from .packets import ACK, CWR, ECE, FIN, NOTHING, PSH, RST, SYN, Segment, Sent
from .ranges import Ranges
from .scripts import MS, Arrival, Call, Event, Script

LEVELS = {"plain": 1, "losses": 2, "all": 3}
SLICE_NS = 5 * MS
MOST_EVENTS = 90


@dataclass(frozen=True)
class Style:
    """What a script is like. In a `tidy` one the host writes full segments and reads at once."""

    algorithm: str
    active: bool
    tidy: bool
    mss: int
    sack: bool
    stamps: bool
    shift: int | None
    rtt: int
    loss: float
    ack_loss: float
    reorder: float
    window: int
    ecn: bool
    marks: float
    odd: float
    ack_every: int
    end: int


def style(rng: random.Random, algorithms: list[str], level: int) -> Style:
    """Draws what a script is like."""
    lossy, everything = level >= 2, level >= 3
    ecn = everything and rng.random() < 0.2
    tidy = rng.random() < 0.6
    return Style(
        algorithm=rng.choice(algorithms),
        active=rng.random() < 0.2,
        tidy=tidy,
        mss=rng.choice((500, 536, 1000, 1448, 1460)),
        sack=rng.random() < 0.8,
        stamps=rng.random() < 0.7,
        shift=rng.choice((None, 0, 2, 7, 10)),
        rtt=rng.choice((10, 20, 40, 100)) * MS + rng.randrange(5 * MS),
        loss=rng.choice((0, 0.02, 0.1, 0.3)) if lossy else 0,
        ack_loss=rng.choice((0, 0, 0.1, 0.4)) if lossy else 0,
        reorder=rng.choice((0, 0, 0.05, 0.3)) if lossy else 0,
        window=rng.choice((65_535, 65_535, 30_000, 8_000, 8_000 if tidy else 2_000)),
        ecn=ecn,
        marks=rng.choice((0.02, 0.2)) if ecn else 0,
        odd=rng.choice((0, 0, 0.05, 0.2)) if everything else 0,
        ack_every=rng.choice((1, 2, 2, 4)),
        end=rng.choice((500, 1000, 2000)) * MS,
    )


@dataclass
class Peer:
    """The peer of a script, and the script's application."""

    rng: random.Random
    style: Style
    ours: Ours
    first: int
    level: int
    now: int = 0
    agenda: list[tuple[int, int, Callable[[], None]]] = field(default_factory=list)
    count: int = 0
    events: list[Event] = field(default_factory=list)
    seen: int = 0
    sent: list[Sent] = field(default_factory=list)
    next_seq: int = 1
    host_acked: int = 0
    got: Ranges = field(default_factory=Ranges)
    fresh: tuple[int, int] | None = None
    duplicate: tuple[int, int] | None = None
    unacked: int = 0
    echo: int = NOTHING
    open: bool = False
    dead: bool = False
    window: int = 0
    saw_mark: bool = False
    clock: int = 0

    def at(self, when: int, what: Callable[[], None]) -> None:
        """Does something later."""
        self.count += 1
        heapq.heappush(self.agenda, (max(when, self.now), self.count, what))

    def run(self) -> None:
        """Plays until the end."""
        while self.agenda and self.agenda[0][0] < self.style.end and len(self.events) < MOST_EVENTS:
            due, _, what = self.agenda[0]
            if due > self.now + SLICE_NS:
                self.now += SLICE_NS
                self.look(self.ours.to(self.now))
                continue
            heapq.heappop(self.agenda)
            self.now = max(self.now, due)
            what()

    def play(self, event: Event) -> None:
        """An event of the script."""
        self.events.append(event)
        self.look(self.ours.event(event))

    def call(self, name: str, *arguments: int) -> None:
        """The application makes a call now."""
        self.play(Call(self.now, name, arguments))

    def look(self, sent: list[Sent]) -> None:
        """What the tested host has sent goes through the network to the peer, or is lost."""
        for one in sent:
            index = self.seen
            self.seen += 1
            self.sent.append(one)
            if one.segment.flags & RST:
                self.dead = True
            if one.segment.flags & SYN:
                self.at(one.at + self.style.rtt // 2, lambda one=one, index=index: self.opening(one, index))  # type: ignore[misc]
            elif self.rng.random() >= self.style.loss:
                delay = self.style.rtt // 2 + self.jitter()
                self.at(one.at + delay, lambda one=one, index=index: self.receive(one, index))  # type: ignore[misc]

    def jitter(self) -> int:
        """An extra delay that reorders."""
        return self.rng.randrange(self.style.rtt) if self.rng.random() < self.style.reorder else 0

    def stamp(self) -> int | None:
        """The peer's time stamp."""
        return (self.clock + self.now // MS) & 0xFFFFFFFF if self.style.stamps else None

    def segment(self, flags: int, seq: int, length: int = 0) -> Segment:
        """A segment of the open connection."""
        ecn = self.rng.choice((1, 2)) if self.style.ecn and length else 0
        if self.style.ecn and self.rng.random() < self.style.marks:
            ecn = 3 if length else ecn
        return Segment(
            flags=flags | (ECE if self.saw_mark else 0),
            seq=seq,
            ack=self.got.next if flags & ACK else 0,
            window=min(self.window >> (self.style.shift or 0), 65_535),
            length=length,
            sack=self.blocks(),
            stamp=self.stamp(),
            echo=self.echo,
            ecn=ecn,
        )

    def blocks(self) -> tuple[tuple[int, int], ...]:
        """The SACK blocks, a duplicate first (RFC 2883), then the latest (RFC 2018)."""
        if not self.style.sack:
            return ()
        blocks = self.got.above()
        if self.fresh is not None:
            blocks.sort(key=lambda block: not block[0] <= self.fresh[0] < block[1])  # type: ignore[index]
        if self.duplicate is not None:
            blocks.insert(0, self.duplicate)
            self.duplicate = None
        return tuple(blocks[: 3 if self.style.stamps else 4])

    def opening(self, one: Sent, index: int) -> None:
        """The host's SYN or SYN-ACK arrives at the peer."""
        self.got.add(0, 1)
        self.echo = index
        arrives = self.now + self.style.rtt // 2
        if one.segment.flags & ACK:
            self.host_acked = 1
            self.at(arrives, self.acknowledge_opening)
        else:
            self.at(arrives, lambda: self.syn(SYN | ACK | (ECE if self.style.ecn else 0)))

    def syn(self, flags: int) -> None:
        """The peer's SYN or SYN-ACK arrives at the host."""
        echo = self.echo if flags & ACK else NOTHING
        self.play(
            Arrival(
                self.now,
                Segment(
                    flags=flags,
                    seq=0,
                    ack=self.got.next if flags & ACK else 0,
                    window=min(self.style.window, 65_535),
                    mss=self.style.mss,
                    shift=self.style.shift,
                    sack_permitted=self.style.sack,
                    stamp=self.stamp(),
                    echo=echo,
                ),
            )
        )
        if flags & ACK and not self.open:
            self.opened()

    def acknowledge_opening(self) -> None:
        """The ACK of the SYN-ACK arrives."""
        self.window = self.style.window
        self.play(Arrival(self.now, self.segment(ACK, 1)))
        if not self.open:
            self.at(self.now + MS, lambda: self.call("accept"))
            self.now += MS
            self.opened()

    def opened(self) -> None:
        """Plans what both applications do."""
        self.open, self.window = True, self.style.window
        rng, end = self.rng, self.style.end
        for _ in range(rng.randrange(0, 7)):
            size = rng.choice((1, 100, self.style.mss, 3 * self.style.mss, rng.randrange(1, 20_000)))
            if self.style.tidy:
                full = self.style.mss - (12 if self.style.stamps else 0)
                size = full * rng.choice((1, 2, 5, 10, 20))
            more = socket.MSG_MORE if self.level >= 3 and rng.random() < 0.1 else 0
            self.at(self.now + rng.randrange(2 * MS, end), lambda s=size, m=more: self.write(s, m))  # type: ignore[misc]
        when = self.now + rng.randrange(2 * MS, end // 2)
        for _ in range(rng.choice((0, 1, 3, 8, 15))):
            length = rng.choice((1, self.style.mss, self.style.mss, rng.randrange(1, self.style.mss + 1)))
            when += rng.choice((100_000, 100_000, 20 * MS, 60 * MS))
            self.at(when, lambda n=length: self.data(n))  # type: ignore[misc]
        for _ in range(rng.randrange(0, 1 if self.style.tidy else 4)):
            self.at(
                self.now + rng.randrange(2 * MS, end), lambda: self.call("read", rng.choice((100, 100_000)))
            )
        if self.level >= 3:
            self.plan_more()

    def plan_more(self) -> None:
        """Options, the end of the connection, and odd segments."""
        rng, end = self.rng, self.style.end
        if rng.random() < 0.3:
            self.at(
                self.now + rng.randrange(2 * MS, end), lambda: self.call("option", 6, socket.TCP_NODELAY, 1)
            )
        if rng.random() < 0.15:
            when = self.now + rng.randrange(2 * MS, end)
            self.at(when, lambda: self.call("option", 6, socket.TCP_CORK, 1))
            self.at(when + rng.randrange(300 * MS), lambda: self.call("option", 6, socket.TCP_CORK, 0))
        if rng.random() < 0.3:
            ending = rng.choice(("close", "shutdown"))
            arguments = (1,) if ending == "shutdown" else ()
            self.at(self.now + rng.randrange(2 * MS, end), lambda: self.call(ending, *arguments))
        if rng.random() < 0.3:
            self.at(self.now + rng.randrange(2 * MS, end), self.fin)
        if rng.random() < 0.2:
            when = self.now + rng.randrange(2 * MS, end)
            self.at(when, lambda: self.resize(rng.choice((0, 100, 1000))))
            self.at(when + rng.randrange(MS, 700 * MS), lambda: self.resize(self.style.window))
        when = self.now
        while self.style.odd and when < end:
            when += round(rng.expovariate(self.style.odd) * 10 * MS)
            self.at(
                when,
                lambda: self.play(Arrival(self.now, odd_segment(self.rng, self.segment(ACK, self.next_seq)))),
            )

    def write(self, size: int, flags: int) -> None:
        """The application writes, if not too much is under way."""
        if not self.dead:
            self.call("write", size, flags)

    def resize(self, window: int) -> None:
        """The peer announces another window."""
        self.window = window
        self.play(Arrival(self.now, self.segment(ACK, self.next_seq)))

    def data(self, length: int) -> None:
        """The peer sends data, which may be lost, late or doubled."""
        seq, self.next_seq = self.next_seq, self.next_seq + length
        if self.rng.random() < self.style.loss:
            self.at(self.now + self.rng.randrange(20 * MS, 300 * MS), lambda: self.arrive(seq, length, 0))
            return
        late = self.jitter()
        self.at(self.now + late, lambda: self.arrive(seq, length, PSH if self.rng.random() < 0.5 else 0))
        if self.style.reorder and self.rng.random() < 0.1:
            self.at(self.now + self.style.rtt, lambda: self.arrive(seq, length, 0))

    def arrive(self, seq: int, length: int, flags: int) -> None:
        """Data of the peer arrives."""
        self.unacked = 0
        self.play(Arrival(self.now, self.segment(ACK | flags, seq, length)))
        if self.style.tidy:
            self.at(self.now + 50_000, lambda: self.call("read", 100_000))

    def fin(self) -> None:
        """The peer's FIN."""
        seq, self.next_seq = self.next_seq, self.next_seq + 1
        self.play(Arrival(self.now, self.segment(ACK | FIN, seq)))

    def receive(self, one: Sent, index: int) -> None:
        """A segment of the host arrives at the peer, which may acknowledge it."""
        segment = one.segment
        if segment.flags & RST or self.dead:
            return
        if segment.flags & CWR:
            self.saw_mark = False
        if self.style.ecn and segment.ecn and self.rng.random() < self.style.marks:
            self.saw_mark = True
        length = segment.length + bool(segment.flags & FIN)
        if not length:
            return
        left, right = segment.seq, segment.seq + length
        if left <= self.got.next:
            self.echo = index
        in_order = left == self.got.next and not self.got.above()
        if self.got.covers(left, right):
            self.duplicate = (left, right)
        self.got.add(left, right)
        self.fresh = (left, right)
        self.unacked += 1
        if not in_order or self.unacked >= self.style.ack_every:
            self.acknowledge()
        else:
            self.at(self.now + 40 * MS, lambda: self.acknowledge() if self.unacked else None)

    def acknowledge(self) -> None:
        """The peer sends an ACK, which may be lost or late."""
        self.unacked = 0
        segment = self.segment(ACK, self.next_seq)
        if self.rng.random() >= self.style.ack_loss:
            late = self.style.rtt // 2 + self.jitter()
            self.at(self.now + late, lambda: self.play(Arrival(self.now, segment)))


def generate(seed: int, ours: Ours, algorithms: list[str], level: int) -> Script:
    """The script of a seed."""
    rng = random.Random(seed)
    drawn = style(rng, algorithms, level)
    first = rng.choice((0, 1000, 0xFFFFFF00, rng.getrandbits(32)))
    peer = Peer(rng, drawn, ours, first, level, window=drawn.window, clock=rng.randrange(1, 1 << 30))
    ours.begin(drawn.algorithm, first, "exact")
    peer.call("socket")
    peer.call("option", socket.SOL_SOCKET, socket.SO_SNDBUF, 200_000)
    if drawn.active:
        peer.at(MS, lambda: peer.call("connect"))
    else:
        peer.call("listen")
        peer.at(MS, lambda: peer.syn(SYN | (ECE | CWR if drawn.ecn else 0)))
    peer.run()
    last = peer.events[-1].at
    end = min(drawn.end, last + rng.choice((50, 500)) * MS)
    return Script(seed, drawn.algorithm, drawn.tidy, first, tuple(peer.events), max(end, last + MS))
