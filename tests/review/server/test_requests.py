"""Requests made from the description of the API, as everybody who may send some: none makes the server fail."""

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings

from shortlist.review.server.app import TeamServer
from shortlist.review.web.access import NEEDS, Role
from shortlist.review.web.site import Site
from tests.review.server.conftest import ORIGIN
from tests.review.server.test_app import OPEN, routes

#: Each role sends so many requests to each address.
QUIET = settings(
    max_examples=6,
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[*HealthCheck],
)


@pytest.fixture(scope="module")
def described(tmp_path_factory):
    """All that the API of a team can be asked, by the name of the function that answers."""
    site = Site.of(f"{ORIGIN}/base", is_team=True)
    server = TeamServer.open(tmp_path_factory.mktemp("empty"), site)
    server.close()
    names = {(method, path.replace(":path}", "}")): name for method, path, name in routes(server.app)}
    found = schemathesis.openapi.from_dict(server.app.openapi()).get_all_operations()
    # Training reads nothing of its request, and takes its time.
    operations = [each.ok() for each in found if not each.ok().path.endswith("/model")]
    return [(each, names[each.method.upper(), each.path]) for each in operations]


@pytest.mark.slow
@pytest.mark.parametrize("role", [None, *Role], ids=lambda role: role.word if role else "stranger")
def test_no_request_of_anybody_makes_the_server_fail_or_does_what_their_role_may_not(team, described, role):
    http = team.program(role.word, role) if role else team.browser()
    before = [(queue.name, queue.snapshot.seq) for queue in team.server.queues.values()]
    answers = []
    for operation, name in described:
        for status in ask(operation, http):
            answers.append(status)
            assert status < 500, operation.label
            if name not in OPEN and (role is None or role < NEEDS[name]):
                assert status in (401, 403), operation.label
    assert len(answers) > 100
    assert (200 in answers) == (role is not None)
    if role in (None, Role.VIEWER):
        assert [(queue.name, queue.snapshot.seq) for queue in team.server.queues.values()] == before


def ask(operation, http):
    """The status of each request of one operation."""
    statuses = []

    @QUIET
    @given(operation.as_strategy())
    def asking(case):
        case.path_parameters = {**(case.path_parameters or {}), "name": "claims"}
        sent = case.as_transport_kwargs(base_url=f"{ORIGIN}/base")
        headers = {
            k: v for k, v in (sent.get("headers") or {}).items() if k.lower() not in ("authorization", "host")
        }
        body = {"json": sent["json"]} if "json" in sent else {"content": sent.get("data")}
        address = sent["url"].removeprefix(ORIGIN)
        answer = http.request(sent["method"], address, params=sent.get("params"), headers=headers, **body)
        statuses.append(answer.status_code)

    asking()
    return statuses
