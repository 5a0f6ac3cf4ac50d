"""The command line, ``afterwit``."""

import sys


def main() -> None:
    """Runs a command; a known error becomes one line on stderr and its exit code."""
    from afterwit.cli.app import app
    from afterwit.errors import AfterwitError

    try:
        app()
    except AfterwitError as error:
        print(f"afterwit: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.exit(1)
