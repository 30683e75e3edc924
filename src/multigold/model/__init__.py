"""The nouns: frozen records with no behaviour beyond their own data, and no I/O."""
