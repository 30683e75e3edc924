"""Policies as text: lines, clauses, what wording gives away, and the record of an audit."""
