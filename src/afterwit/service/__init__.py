"""One memory for many: who may do what in which scope, memories by scope, work that outlives a request."""
