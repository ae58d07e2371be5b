"""What each column is and holds: roles, profiles, histograms, value counts."""
