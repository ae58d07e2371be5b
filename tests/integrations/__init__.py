"""crypsis inside other tools. `check_*.py` run in environments of their own: `make test-integrations`."""
