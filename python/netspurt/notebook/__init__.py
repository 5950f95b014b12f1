"""What notebooks show of a result.

Lives here: HTML for ``_repr_html_``. Must not live here: the values that are shown.
"""
