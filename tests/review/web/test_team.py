"""People at one queue: what the second must not know, rows that are handed over, and a lead who decides."""

import pytest

from shortlist.review.errors import BadRequestError
from tests.review.web.conftest import signed_in


@pytest.fixture
def server(serve_queue):
    return serve_queue(settings={"second_opinions": 1.0, "columns": ["region"]})


def test_nothing_tells_the_second_what_the_first_said(server):
    ann, bob = server.client("ann"), server.client("bob")
    mine = ann.turn()
    ann.record(mine.shown, "not wanted", note="a typo, ask Rome")
    theirs = bob.turn()
    assert (theirs.id, theirs.drawn, theirs.rank, theirs.score) == (mine.id, "second", None, None)
    assert theirs.reasons == mine.reasons
    told = bob.row(mine.id)
    assert told.verdict is None
    assert {event.kind for event in told.history} == {"shown"}
    assert [event.who for event in told.history] == ["ann"]  # what bob was shown has the score of now
    assert not [event for event in bob.log() if event.id == mine.id and event.kind == "verdict"]
    (listed,) = bob.rows(standing="all", text=mine.id).rows
    assert (listed.verdict, listed.note, listed.who) == (None, "", None)
    assert bob.rows(standing="not wanted").total == 0
    assert sum(each.not_wanted for each in bob.related(bob.ranking()[0].id)) == 0
    with signed_in(server, "bob") as browser:
        for place in ("", "/log", "/people", f"/row/{mine.id}", f"/sheet/{mine.id}", "/rows?standing=all",
                      f"/related/{mine.id}", "/rows?standing=not%20wanted"):  # fmt: skip
            page = browser.get(f"/q/claims{place}").text
            assert "Rome" not in page, place
            assert "✗" not in page, place
    with signed_in(server, "ann") as browser:  # who said it knows it
        assert "Rome" in browser.get(f"/q/claims/row/{mine.id}").text
    bob.record(theirs.shown, "wanted")
    assert bob.row(mine.id).verdict == "not wanted"
    assert "Rome" in " ".join(str(event.payload) for event in bob.log())


def test_two_differ_a_lead_sees_it_and_decides(server):
    ann, bob, lead = (server.client(who) for who in ("ann", "bob", "lead"))
    mine = ann.turn()
    ann.record(mine.shown, "wanted", note="staged")
    bob.record(bob.turn().shown, "not wanted", note="a known shop")
    (dispute,) = lead.disputes()
    assert (dispute.id, dispute.first.who, dispute.second.note) == (mine.id, "ann", "a known shop")
    seen = lead.queue()
    assert (seen.disputed, seen.second_opinions_open, seen.reviewed) == (1, 0, 1)
    with signed_in(server, "lead") as browser:
        people = browser.get("/q/claims/people").text
        assert people.index('id="disputes"') < people.index("staged") < people.index("a known shop")
        assert "a lead decides" in browser.get(f"/q/claims/row/{mine.id}").text
        browser.post(f"/q/claims/row/{mine.id}", data={"verdict": "wanted", "note": "seen the photos"})
        assert "Nobody differs." in browser.get("/q/claims/people").text
        figures = browser.get("/q/claims/figures").text
        assert 'id="kappas"' in figures
        assert "0 got the same verdict from both" in figures
    told = lead.figures().second_opinions
    assert (told.rows, told.same, [pair.rows for pair in told.pairs]) == (1, 0, [1])
    assert lead.disputes() == []
    assert lead.row(mine.id).verdict == "wanted"


def test_rows_are_handed_over_and_others_read_remarks(server):
    ann, lead = server.client("ann"), server.client("lead")
    mine = ann.turn()
    lead.change(second_opinions=0.0)
    lead.note(mine.id, "call the shop first")
    with signed_in(server, "ann") as browser:
        assert "call the shop first" in browser.get("/q/claims").text
        panel = browser.get(f"/q/claims/handover/{mine.id}").text
        assert 'action="/q/claims/assign"' in panel
        page = browser.post("/q/claims/assign", data={"id": mine.id, "to": "bob"})
        assert 'id="row-title"' in page.text
        assert f'tabindex="-1">{mine.id}<' not in page.text
        people = browser.get("/q/claims/people").text
        assert "call the shop first" in people
        assert "to bob" in people
        assert "assigned to bob" in browser.get(f"/q/claims/row/{mine.id}").text
        assert "to bob" in browser.get("/q/claims/log?kind=assigned").text
    assert [event.payload["to"] for event in lead.log(kind="assigned")] == ["bob"]
    assert lead.row(mine.id).assigned_to == "bob"
    assert (server.client("bob").turn().id, lead.queue().assigned) == (mine.id, 1)
    lead.assign(mine.id, None)
    assert lead.queue().assigned == 0
    with pytest.raises(BadRequestError):
        lead.assign(mine.id, "")


def test_german_pages_of_a_team(server):
    ann, bob = server.client("ann"), server.client("bob")
    ann.record(ann.turn().shown, "wanted")
    with signed_in(server, "bob", language="de") as browser:
        assert "Zweitmeinung" in browser.get("/q/claims").text
        assert "entscheidet die Leitung" in browser.get("/q/claims").text
    bob.record(bob.turn().shown, "not wanted")
    with signed_in(server, "lead", language="de") as browser:
        assert "Zwei Meinungen" in browser.get("/q/claims/people").text
        assert "Krippendorffs Alpha" in browser.get("/q/claims/figures").text


@pytest.mark.slow
def test_two_people_in_browsers(server, reviewer):
    ann, bob = reviewer(server, "ann"), reviewer(server, "bob")
    ours = ann.row
    ann.press("y")
    bob.press("n")  # the row that was on the screen before
    assert bob.row == ours
    assert "second opinion" in bob.page.inner_text(".place")
    assert "not told" in bob.page.inner_text(".why")
    bob.shoot("second-opinion")
    bob.press("n")
    bob.page.keyboard.press("h")
    bob.page.wait_for_selector("#handover-title")
    mine = bob.row
    bob.page.fill("[name=to]", "ann")
    bob.shoot("hand-over")
    bob.page.get_by_role("button", name="Hand over", exact=True).click()
    bob.page.wait_for_function(f"document.getElementById('row-title')?.innerText !== '{mine}'")
    ann.press("n")
    while "second" in ann.page.inner_text(".place"):
        ann.press("n")
    assert ann.row == mine
    assert "assigned to you" in ann.page.inner_text(".place")
    ann.page.goto(f"{server.url}/q/claims/people")
    assert ours in ann.page.inner_text("#disputes")
    ann.shoot("two-opinions")
    ann.page.goto(f"{server.url}/q/claims/figures")
    ann.shoot("agreement")
