"""`python -m crypsis`: the command line."""

from crypsis.cli import main

main()
