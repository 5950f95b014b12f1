"""Captures on the page: reading, the graph of a connection, the fitted path, and remedies.

Lives here: the captures that the page may show (``box``), work in the background with progress (``work``), the columns
of a connection (``graph``), and the requests (``routes``). Must not live here: the rules of a diagnosis, of a fit or of
a remedy.
"""
