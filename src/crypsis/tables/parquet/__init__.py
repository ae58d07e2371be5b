"""Parquet files: their columns as codes, counted without an engine where that is faster."""
