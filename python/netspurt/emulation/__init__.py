"""Real TCPs on emulated paths, for comparisons and for the live halves of studies.

Lives here: what runs on the hosts of an emulation (``programs``), emulations of many paths at once (``emulating``),
captures packet by packet (``packets``), and our TCP held against itself and the kernel's (``agreement``, ``paths``).
Must not live here: the network (that is Rust's), what a study makes of its numbers.
"""
