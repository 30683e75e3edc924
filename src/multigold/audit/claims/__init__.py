"""Claims held against the files that they are said to come from, and statements of what a result was made with.

- `checking`: a claimed table of pass^k by domain: does it follow from the files?
- `statements`: one in-toto statement per result, which another machine derives again byte for byte.
"""
