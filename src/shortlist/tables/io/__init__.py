"""Tables in and out: files, databases and data frames."""
