"""What can be asked, a noun a file."""
