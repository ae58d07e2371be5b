"""Non-perturbative protection (lodha2007): generalization and suppression."""
