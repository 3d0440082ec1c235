"""What every page sends to a browser, kept and compared: `python -m tests.golden record|check`."""
