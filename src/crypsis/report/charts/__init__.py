"""Charts: from results to Altair, one module a question."""
