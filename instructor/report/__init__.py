"""What the grader says: a JSON report for each submission; all else is made of it."""
