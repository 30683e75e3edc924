"""Verdicts and reports as JSON documents, terminal tables and text. Nothing here computes anything."""
