"""Side by side with what a user would pick instead: `make bench`, or `python -m benchmarks NAME`."""
