"""Changes of the database, one file each."""
