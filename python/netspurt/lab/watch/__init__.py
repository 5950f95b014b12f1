"""What the page can watch while it happens: a prober, an emulation, or files that either of them writes elsewhere.

Lives here: streams of events for the page. Must not live here: what the page shows of them, simulated runs.
"""
