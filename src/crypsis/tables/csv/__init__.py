"""CSV files: dialect, column types, two readers, and formulas neutralized on writing."""
