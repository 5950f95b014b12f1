"""The lab page: a server on the loopback device, and a page that needs no build step.

Lives here: what the page asks for (``app``), who may ask (``guard``), which scenarios there are (``shelf``), what of a
scenario can be moved (``controls``), runs of which the newest wins (``runs``), a run as columns for pictures
(``pictures``, ``wire``), and what is watched as it happens (``live``). ``page/`` holds what the browser gets. Must not
live here: how anything is simulated or measured.
"""
