"""Scenarios that several tests use."""

SCENARIO = """
duration = "600 s"

[tcp]
receive_window = "64 KiB"

[link.line]
between = ["a", "b"]
rate = "10 Mbit/s"
delay = "10 ms"

[[flow]]
app = { kind = "bulk", bytes = "1 MiB" }
from = "a"
to = "b"
"""

HOME_LINE = """
[tcp]
profile = "linux"
[link.line]
between = ["home", "net"]
rate = ["5 Mbit/s", "20 Mbit/s"]
delay = "10 ms"
queue = { kind = "drop-tail", limit = "200 packets" }
"""
