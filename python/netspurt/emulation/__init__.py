"""Real TCPs on emulated paths, for comparisons and for the live parts of studies.

Lives here: programs on the hosts of an emulation (``programs``), emulations of many paths at once (``emulating``),
captures packet by packet (``packets``), and comparisons of our TCP with the kernel's (``agreement``, ``paths``).
Must not live here: the network (Rust emulates it), the evaluation of numbers by a study.
"""
