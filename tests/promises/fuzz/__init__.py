"""What is fuzzed: everything that parses bytes somebody else wrote.

A target takes bytes and may raise nothing but errors of ours. Hypothesis tries them in
`tests/promises/test_fuzz.py`, atheris guided by coverage in `python -m tests.promises.fuzz`. What
either finds goes into `found.py` and is tried first ever after. A new parser (a web form, a file) is
one more function in `targets.py`.
"""
