"""Make queues with the libraries of this environment, to be replayed in another: -m tests.data.make_queues FOLDER."""

import sys
from pathlib import Path

from tests.data.make_before import make_queue

if __name__ == "__main__":
    for strategy in ("similarity", "ojrank", "aad", "omd"):
        folder = Path(sys.argv[1]) / strategy
        folder.mkdir()
        make_queue(folder, strategy, strategy=strategy)
