"""Results as people see them: terminal, HTML, JSON, charts. Sees results, never rows."""
