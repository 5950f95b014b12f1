"""The lab page: a server on the loopback device, and a page that needs no build step.

Lives here: the requests of the page (``app``), access control (``guard``), the list of scenarios (``shelf``), the
controls of a scenario (``controls``), runs of which the newest wins (``runs``), a run as columns for plots
(``pictures``, ``wire``), captures (``captures``), and live measurements (``watch``). ``page/`` contains the files for
the browser. Must not live here: simulation or measurement.
"""
