"""The words of the pages, in the language of whoever reads them: a catalogue (``*.po``) per language."""

__all__: list[str] = []
