"""What can go wrong in a review, each with the HTTP status it gets and a sentence for the reviewer."""

from __future__ import annotations

from shortlist.exceptions import InvalidInputError, ShortlistError, TableError


class ReviewError(ShortlistError):
    """A review cannot go on as asked."""

    status = 409


class NothingToReviewError(TableError):
    """A queue was to be made of a table without rows, as of a quiet day."""


class NotSignedInError(ReviewError):
    """No session, or a forged or expired one."""

    status = 401


class ForbiddenError(ReviewError):
    """A form that does not come from one of our pages."""

    status = 403


class TooOftenError(ReviewError):
    """Somebody has to wait before they try again."""

    status = 429


class NoQueueError(ReviewError):
    """There is no such queue or row."""

    status = 404


class NotShownError(ReviewError):
    """A verdict on a row that the reviewer was not shown."""

    status = 404


class LeaseLostError(ReviewError):
    """Somebody else has, or has reviewed, the row by now."""


class NothingToUndoError(ReviewError):
    """There is no verdict to take back, or it was taken back already."""


class ReadOnlyError(ReviewError):
    """Another server owns the queue, or its folder cannot be written."""

    status = 403


class StoreError(ReviewError):
    """The log could not be written; nothing has changed and the request may be sent again."""

    status = 503


class NotOwnerError(StoreError):
    """Another server has become the owner of the queue."""


class AnsweredError(ReviewError):
    """The row was answered already, and otherwise."""


class DamagedError(ReviewError, InvalidInputError):
    """A file of the queue is not as it was written."""

    status = 503


class ChangedDataError(ReviewError, InvalidInputError):
    """The data file is not the one the queue was made from."""


class QueueExistsError(ReviewError, InvalidInputError):
    """A queue is there already and was made with other settings."""


class BadRequestError(ReviewError, InvalidInputError):
    """A value in a request cannot be used."""

    status = 422
