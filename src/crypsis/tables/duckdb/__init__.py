"""DuckDB: the engine for rows on one machine."""
