"""What we measure and how; nothing here is a test, because a time is a fact about a machine."""
