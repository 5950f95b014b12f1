"""The TCP sockets of this host, live: what limits each of them.

Lives here: the table of the native module, the choice of sockets, and sentences. Must not live here: rules (Rust has
them), options, or display.
"""
