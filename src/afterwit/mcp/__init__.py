"""A memory as tools of the Model Context Protocol, over stdio or streamable HTTP."""
