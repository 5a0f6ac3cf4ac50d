"""REST over HTTP: everything of `Memory`, for callers with keys; see `afterwit.server.app.build`."""
