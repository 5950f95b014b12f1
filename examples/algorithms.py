"""One Python algorithm of each family. Each reproduces a built-in one: same digests, longer run time.

    netspurt run examples/satellite.toml --algorithm examples/algorithms.py:Reno --set tcp.congestion=python:Reno

or, in Python:

    import netspurt as ns
    from algorithms import Reno
    ns.load("examples/satellite.toml").set({"tcp.congestion": Reno}).run()

``netspurt.algorithms`` documents the members of each class and the arguments of its methods.
"""

from netspurt.algorithms import MILLISECOND, SECOND, Action


class Reno:
    """RFC 5681 like "reno", counting ACKs: halve the bytes in flight at a loss, then add a segment per RTT."""

    def __init__(self, start):
        self.cwnd, self.ssthresh = start.cwnd, start.ssthresh
        self.initial = start.cwnd
        self.before = (0, 0)
        self.recovering = False

    def on_acked(self, acked, view):
        if self.cwnd < self.ssthresh:
            self.cwnd += view.mss
        else:
            self.cwnd += max(view.mss * view.mss // self.cwnd, 1)

    def on_enter_recovery(self, view):
        self._halve(view)
        self.recovering = True

    def on_exit_recovery(self, view):
        if self.recovering:
            self.cwnd, self.recovering = self.ssthresh, False

    def on_timeout(self, first, view):
        if first:
            if not self.recovering:
                self.before = (self.cwnd, self.ssthresh)
            self.ssthresh = max(view.flight // 2, 2 * view.mss)
        self.cwnd, self.recovering = view.mss, False

    def on_ecn_ce(self, view):
        if not self.recovering:
            self._halve(view)

    def on_undo(self, view):
        self.cwnd, self.ssthresh = max(self.cwnd, self.before[0]), max(self.ssthresh, self.before[1])
        self.recovering = False

    def on_idle_restart(self, view):
        self.cwnd = min(self.initial, self.cwnd)

    def _halve(self, view):
        self.before = (self.cwnd, self.ssthresh)
        self.cwnd = self.ssthresh = max(view.flight // 2, 2 * view.mss)


class Rfc6298:
    """RFC 6298, section 2, like "rfc6298": SRTT in eighths, plus four times RTTVAR, at least 1 s."""

    max_ps = 60 * SECOND

    def __init__(self):
        self.rto_ps, self.srtt_ps = 1 * SECOND, None
        self.eighths = self.variation = 0

    def on_sample(self, rtt_ps):
        if self.srtt_ps is None:
            self.eighths, self.variation = 8 * rtt_ps, 2 * rtt_ps
        else:
            self.variation += abs(rtt_ps - self.srtt_ps) - self.variation // 4
            self.eighths += rtt_ps - self.srtt_ps
        self.srtt_ps = self.eighths // 8
        rto = self.srtt_ps + max(MILLISECOND, self.variation)
        self.rto_ps = min(max(rto, 1 * SECOND), self.max_ps)


class Nagle:
    """RFC 896 like "nagle-strict": a short segment waits while any data is unacknowledged."""

    def holds(self, situation):
        return situation.unacknowledged > 0


class Bulk:
    """Sends 1 MiB like "bulk": as fast as the send buffer has room, then closes."""

    length = 1 << 20

    def __init__(self):
        self.closed = self.done = False

    def next(self, now_ps, socket):
        left = self.length - socket.written
        if left > 0:
            # Do not fill the rest of a nearly full buffer byte by byte.
            if socket.room > 0 and socket.room >= min(left, socket.send_buffer // 64):
                return Action.write(min(left, socket.room))
        elif not self.closed:
            self.closed = True
            return Action.close()
        elif socket.acknowledged >= self.length:
            self.done = True
        return Action.wait()
