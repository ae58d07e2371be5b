"""What is measured of crypsis alone, without a peer: `python -m benchmarks.studies.NAME`."""
