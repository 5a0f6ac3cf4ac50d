"""One operator a file: a pure function from cards and evidence to an edit (design section 9)."""
