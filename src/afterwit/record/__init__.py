"""Record: what happened while a task was served, and what the delivery log says of it later."""
