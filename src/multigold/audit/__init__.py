"""Audits: what is wrong, unclear or contradictory in golds, policies, traces and versions. Findings are values."""
