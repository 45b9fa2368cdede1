"""Changes from the command line."""

from shortlist.review.change import take_settings


def test_the_same_command_again_keeps_the_budget_of_the_page(queue):
    assert take_settings(queue, {"budget": 30}) == {}
    queue.change("ann", {"budget": 45}).result()
    assert take_settings(queue, {"budget": 30}) == {"budget": 45}
    assert queue.snapshot.settings.budget == 45
    assert take_settings(queue, {"budget": 60}) == {}
    queue.change("ann", {"budget": 70}).result()
    assert take_settings(queue, {"budget": 60}) == {"budget": 70}
