"""The ledger on a database, and event segments beside it: tables and queries once, dialects as thin differences."""
