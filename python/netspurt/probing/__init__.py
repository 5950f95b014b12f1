"""The prober: ICMP echo to one host or many.

Lives here: starting the native prober, its main loop, running sums. Must not live here: options, display.
"""
