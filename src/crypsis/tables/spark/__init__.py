"""Apache Spark: its backend, what it reads and what it writes."""
