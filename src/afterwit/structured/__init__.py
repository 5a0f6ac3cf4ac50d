"""Answers of models as values: asked for with a schema, parsed, repaired once, or refused aloud."""
