"""Small worlds: a few randomised tests a week, one round a week, a bank that starts empty."""
