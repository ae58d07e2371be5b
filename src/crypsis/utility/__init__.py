"""What was lost: numbers that compare a release with what it was made from."""
