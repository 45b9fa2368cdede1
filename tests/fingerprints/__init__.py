"""Fingerprints of what every ranker, strategy, stream learner, command and saved file gives: what a move must keep.

python -m tests.fingerprints > before.txt              one line each: name, sha256; on the code before
python -m tests.fingerprints --against before.txt      what differs on the code after

They hold for one machine and one set of libraries: others round otherwise. Things are addressed by public names, and
what is stored is read as it would be by a user, so that no fingerprint depends on where a class lives.
"""
