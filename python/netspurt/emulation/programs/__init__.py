"""Programs for the hosts of an emulation: small programs with ordinary sockets, or with our TCP on a device.

``start`` is run on each host by file name. It chooses a program by the host's task and synchronises it with the others.
The programs are in ``transfers`` (bulk data, requests and answers), ``web`` (files by HTTP and without it) and ``ours``
(our TCP on a device). Each program is a generator: its preparation, then ``yield``; the measured work, then ``yield``
of the outcome.

Lives here: programs. Must not live here: the expected results, or any slow import, because dozens start at once.
"""
