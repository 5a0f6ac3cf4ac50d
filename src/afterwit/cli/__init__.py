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
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        print(f"afterwit: {place}{error.strerror or error}", file=sys.stderr)
        sys.exit(1)
