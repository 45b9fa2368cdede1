"""How well the parts do what they promise: rankings beside rivals, defaults, servers that are killed."""
