"""What a team sets is checked, and all that is wrong is said at once."""

import pytest

from shortlist.review.errors import BadRequestError
from shortlist.review.log.settings import Settings
from shortlist.verdicts import Verdict


def test_good_settings_are_kept_and_written():
    chosen = {
        "columns": ["shop"],
        "words": {"wanted": "fraud"},
        "reasons": {"wanted": ["staged", "inflated"]},
        "reasons_required": True,
        "criteria": "**late**",
        "links": {"case": "https://cases.example/{id}"},
    }
    settings = Settings().changed(chosen)
    assert {name: settings.to_dict()[name] for name in chosen} == chosen
    assert settings.word(Verdict.WANTED) == "fraud"
    assert settings.needs_reason(Verdict.WANTED)
    assert not settings.needs_reason(Verdict.NOT_WANTED)
    assert settings.named_columns() == {"shop", "id"}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"words": {"fraud": "x"}}, "given by verdict"),
        ({"words": {"wanted": "same", "not wanted": "same"}}, "same word"),
        ({"words": {"wanted": ""}}, "1 to 30"),
        ({"reasons": {"wanted": [str(i) for i in range(10)]}}, "up to 9"),
        ({"reasons": {"wanted": "abc"}}, "lists of texts"),
        ({"links": {"x": "javascript:alert(1)"}}, "begin with https"),
        ({"links": {"x": "https://{host}/"}}, "begin with https"),
        ({"links": {"x": "https://a@b.example/"}}, "begin with https"),
        ({"criteria": "x" * 20_001}, "20,000"),
        ({"columns": 3}, "list of names"),
        ({"reasons_required": "yes"}, "true or false"),
    ],
)
def test_bad_settings_are_refused(changes, words):
    with pytest.raises(BadRequestError, match=words):
        Settings().changed(changes)


def test_all_that_is_wrong_is_said_at_once():
    with pytest.raises(BadRequestError) as told:
        Settings().changed({"words": {"fraud": "x"}, "links": {"x": "ftp://y"}, "criteria": "x" * 30_000})
    assert all(part in str(told.value) for part in ("by verdict", "https", "20,000"))


def test_columns_must_be_in_the_table(queue):
    with pytest.raises(BadRequestError, match=r"not in the table: colour, shop\. It has: claim"):
        queue.change("ann", {"columns": ["shop"], "links": {"x": "https://a.example/{colour}"}}).result()
