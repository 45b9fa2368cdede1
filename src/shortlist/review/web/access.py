"""Who may do what: the one place that says which role an address needs. One that is not named here nobody may use."""

from __future__ import annotations

from enum import IntEnum

from shortlist.languages.words import Message
from shortlist.review.errors import ForbiddenError


class Role(IntEnum):
    """What a person is to a team; each may do all that those before may.

    >>> Role.LEAD > Role.REVIEWER, Role.read("viewer").word
    (True, 'viewer')
    """

    VIEWER = 1
    REVIEWER = 2
    LEAD = 3
    ADMIN = 4

    @property
    def word(self) -> str:
        """How it is written."""
        return self.name.lower()

    @classmethod
    def read(cls, word: str) -> Role:
        """The role of this name."""
        return cls[word.upper()]


#: What pages call them.
ROLES = {
    Role.VIEWER: Message("viewer"),
    Role.REVIEWER: Message("reviewer"),
    Role.LEAD: Message("lead"),
    Role.ADMIN: Message("admin"),
}
#: What looks and changes nothing, and what is about oneself.
_TO_LOOK = (
    "queues", "review", "row", "log", "team", "list_rows", "jump", "show_related", "show_copies", "sheet",
    "list_queues", "show_queue", "show_ranking", "show_digest", "show_row", "read_log", "metrics", "who_am_i",
    "account", "change_password", "end_session", "make_token", "logout", "oidc_connect", "ask_name", "set_name",
)  # fmt: skip
#: What a reviewer does with rows.
_TO_REVIEW = (
    "record", "take", "undo", "alive", "decide", "decide_together", "take_back",
    "take_turn", "record_verdict", "undo_verdict", "park_row", "add_note", "take_row",
    "ask_hand_over", "hand_over", "assign_row",
)  # fmt: skip
#: What decides for others, changes a queue, or carries it away.
_TO_LEAD = (
    "more", "settings", "change_settings", "change_team", "change_formats", "export", "train", "show_page", "take_away",
    "override_verdict", "append_rows", "import_verdicts", "export_verdicts", "train_from_verdicts", "show_figures",
    "export_figures", "list_disputes", "new_queue", "make_queue", "create_queue", "invite",
)  # fmt: skip
#: What is about other people, and what cannot be undone.
_TO_ADMINISTER = (
    "people", "invite_person", "change_person", "erase_rows", "erase_name", "ask_erase_person", "forget_person",
)  # fmt: skip
NEEDS: dict[str, Role] = {
    **dict.fromkeys(_TO_LOOK, Role.VIEWER),
    **dict.fromkeys(_TO_REVIEW, Role.REVIEWER),
    **dict.fromkeys(_TO_LEAD, Role.LEAD),
    **dict.fromkeys(_TO_ADMINISTER, Role.ADMIN),
}


def check_role(role: Role, needed: Role | None) -> None:
    """Refuse somebody whose role is not enough."""
    if needed is None or role < needed:
        raise ForbiddenError(
            Message(
                "this needs the role %(needed)s, and yours is %(role)s. Ask whoever leads the review.",
                needed=ROLES[needed or Role.ADMIN],
                role=ROLES[role],
            )
        )
