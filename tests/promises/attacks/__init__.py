"""Attacks with ground truth: releases that are not safe, and what crypsis says of them."""
