"""Bridges to other people's packages, each behind its extra and imported by no other room."""
