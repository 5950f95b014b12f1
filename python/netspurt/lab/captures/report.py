"""The report of a connection on the page: its diagnosis and its remedies as one file.

Lives here: the choice of the parts. Must not live here: the parts.
"""

from __future__ import annotations

import shlex

from netspurt.diagnosing import Diagnosis
from netspurt.lab.captures.box import Item
from netspurt.report import what_if, why
from netspurt.report.blocks import Code, Page, Section


def page_of(item: Item, diagnosis: Diagnosis, number: int) -> Page:
    """The page; without remedies and fit where they are not known yet."""
    words = ["--connection", str(number)]
    command = shlex.join(["netspurt", "why", item.name, *words])
    page = why.page_of([why.Subject(diagnosis, [number], None)], command)
    lead, sections = list(page.lead), list(page.sections)
    if found := item.remedies.get(number):
        more = what_if.page_of(found, shlex.join(["netspurt", "what-if", item.name, *words]))
        lead += more.lead
        sections += [each for each in more.sections if each.title != "How it was made"]
    if fitted := item.fits.get(number):
        sections.append(Section("The fitted path", [Code("scenario", fitted.text)]))
    return Page(page.kind, item.name, [each.replace(str(item.path), item.name) for each in lead], sections)
