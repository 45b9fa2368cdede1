"""The review queue: an expert says yes or no to the top row, and the list learns at once."""
