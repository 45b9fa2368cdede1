"""What the page says of the last verdict: which rows rose and fell after it, if any could."""

import re
from urllib.parse import unquote

from tests.review.web.conftest import signed_in

LAST = re.compile(r'<details class="last"><summary>(.*?)</summary><p>(.*?)</p></details>')


def judge(server, http):
    """Ann says "not wanted" of the row on her screen: the turn that she had, and the page that she gets."""
    turn = server.queue.turn("ann").result()
    sent = {"shown": turn.shown, "verdict": "not wanted"}
    return turn, http.post("/q/claims/verdict", data=sent, headers={"hx-request": "true"}).text


def test_the_page_counts_and_names_the_rows_that_a_verdict_has_moved(serve_queue):
    server = serve_queue()
    with signed_in(server) as http:
        for _ in range(3):
            turn, page = judge(server, http)
            last = server.queue.snapshot.last
            said, named = LAST.search(page).groups()
            assert said == f"near the top, {len(last.rose)} rows rose after it, {len(last.fell)} fell"
            links = re.findall(r'([▲▼]) <a href="/q/claims/row/(.*?)">', named)
            moved = [("▲", id) for id in last.rose] + [("▼", id) for id in last.fell]
            assert [(mark, unquote(id)) for mark, id in links] == moved
            assert f'last: <a href="/q/claims/row/{turn.id}">' in page
        assert moved
        assert http.get(f"/q/claims/row/{moved[0][1]}").status_code == 200
        german = http.get("/q/claims", headers={"accept-language": "de"}).text
    assert LAST.search(german)[1].startswith(f"oben in der Liste: danach {len(last.rose)} gestiegen")


def test_after_a_random_check_that_teaches_nothing_no_row_is_said_to_have_moved(serve_queue):
    server, checks = serve_queue(settings={"audit": 0.5}), 0
    with signed_in(server) as http:
        for _ in range(6):
            turn, page = judge(server, http)
            is_check = turn.drawn == "audit"
            assert bool(LAST.search(page)) != is_check
            assert ("a random check, which moves no row" in page) == is_check
            assert not (is_check and re.search("rose after it|[▲▼]", page))
            checks += is_check
    assert 0 < checks < 6


def test_checks_that_are_undecided_are_told_with_what_narrows_the_interval(serve_queue):
    server = serve_queue(settings={"audit": 0.5})
    turn = server.queue.turn("ann").result()
    for verdict in ["unsure", "not wanted", "not wanted"] * 5:
        turn = server.queue.record("ann", turn.shown, verdict).result()
    missed = server.queue.snapshot.missed
    assert missed.undecided > 1
    assert missed.narrower is None
    with signed_in(server) as http:
        page = http.get("/q/claims").text
    assert f"{missed.undecided} more are undecided and may be wanted or not: verdicts on them narrow" in page
    assert "At this rate" not in page
