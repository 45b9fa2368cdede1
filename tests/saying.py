"""An independent reader of what pages, files and reports say of rows: each sentence is held against the table."""

import datetime as dt
import math
import re

import polars as pl

MONTHS = [
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
]  # fmt: skip
DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
GONE = {"", "NA", "N/A", "n/a", "#N/A", "null", "NULL", "NaN", "nan"}
CLAIM = re.compile(
    r"^(?P<value>.*), (?:(?P<side>higher|lower|later(?: in the day)?|earlier(?: in the day)?) than "
    r"(?:(?P<all>all other|all of|all) |(?P<share>[\d.]+) % of )(?P<who>rows|(?:known values of )?history|known values)"
    r"|usually (?P<low>.+?)(?: to (?P<high>.+))?|as in (?P<same>[\d.]+) % of (?:rows|history)"
    r"|(?P<alone>as in no other row|not in history))$"
)


def number(text):
    return float(text.replace(",", "").replace(" %", "e-2").replace(" ", ""))


def half_unit(text):
    """Half of the last digit that a number shows."""
    mantissa, _, exponent = text.replace(",", "").partition("e")
    digits = len(mantissa.partition(".")[2])
    return 0.5 * 10.0 ** (int(exponent or 0) - digits) * (0.01 if text.endswith(" %") else 1)


def known(value, part):
    """A value as this reader understands it; None where it is missing."""
    if (
        value is None
        or (isinstance(value, float) and math.isnan(value))
        or (isinstance(value, str) and value.strip() in GONE)
    ):
        return None
    if isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d.*", value.strip()) and part != "value":
        value = dt.datetime.fromisoformat(value.strip())
    if isinstance(value, dt.date):
        day = value.date() if isinstance(value, dt.datetime) else value
        return {
            "month": MONTHS[value.month - 1],
            "weekday": DAYS[value.weekday()],
            "hour": (value.hour, value.minute) if isinstance(value, dt.datetime) else None,
            "days": day,
        }[part]
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            text = value.strip()
            return {"true": True, "false": False}.get(text.lower(), text)
    return value if isinstance(value, bool) else float(value)


class Reader:
    """Reads sentences about the rows of a table, which are compared with each other or with those of a history."""

    def __init__(self, frame, history=None):
        self.frame, self.history = frame, history
        self._columns = {}

    def is_false(self, text, row):
        """What is false in a sentence about a row; None if all of it is true."""
        name = max(
            (name for name in self.frame.columns if text.startswith((name + " ", name + ":"))), key=len
        )
        if text[len(name)] == ":":
            return _wrong_words(text[len(name) + 1 :], self.frame[name][row])
        rest = text[len(name) + 1 :]
        part = next((part for part in ("month", "weekday", "hour") if rest.startswith(f"({part}) ")), "")
        rest = rest.removeprefix(f"({part}) ") if part else rest
        said = (CLAIM.match(rest) or re.match("(?P<value>.*)", rest)).groupdict()
        own = self._known(self.frame, name, part)[row]
        others = self._known(self.frame if self.history is None else self.history, name, part)
        if re.search(r"\brows?$|\bhistory$", rest) and (self.history is None) == rest.endswith("history"):
            return "the others are called by another name"
        itself = int(self.history is None)
        return _wrong_value(said["value"], own) or _wrong_place(said, own, others, itself)

    def _known(self, frame, name, part):
        if (id(frame), name, part) not in self._columns:
            part_read = part or ("days" if _is_date(frame[name]) else "value")
            self._columns[id(frame), name, part] = [known(value, part_read) for value in frame[name]]
        return self._columns[id(frame), name, part]


def _is_date(column):
    if column.dtype in (pl.Date, pl.Datetime):
        return True
    return column.dtype == pl.String and column.drop_nulls().str.contains(r"^\s*\d{4}-\d\d-\d\d").any()


def _wrong_words(quoted, text):
    """What is quoted of a text that does not stand in it, word for word."""
    words, there = re.findall(r"'([^']+)'", quoted), " ".join(re.findall(r"\w+", text.lower()))
    missing = [word for word in words if not re.search(rf"\b{re.escape(word)}\b", there)]
    return None if words and not missing else f"{missing or quoted} not in {text}"


def _wrong_value(shown, own):
    if shown == "missing" or own is None:
        return None if shown == "missing" and own is None else f"{shown} is {own}"
    if isinstance(own, bool):
        return None if shown == ("yes" if own else "no") else f"{shown} is {own}"
    if isinstance(own, str):
        return None if shown == own else f"{shown} is {own}"
    if isinstance(own, tuple | dt.date):
        return None if _end(shown, own) == own else f"{shown} is {own}"
    if shown.endswith(".0"):
        return f"{shown} has a digit that nobody wrote"
    return None if abs(number(shown) - own) <= half_unit(shown) * (1 + 1e-9) else f"{shown} is {own}"


def _wrong_place(said, own, others, itself):
    """What is false of how a value stands among others, one of which is the row ``itself`` or none."""
    if len(said) == 1:
        return None
    told = [value for value in others if value is not None]
    if said["side"]:
        return _wrong_side(said, own, others, told, itself)
    if said["low"]:
        low, high = (_end(said[end] or said["low"], own) for end in ("low", "high"))
        inside = sum(low <= value <= high for value in told) / len(told)
        return None if inside >= 0.9 else f"only {inside:.3f} are from {low} to {high}"
    same = sum(value == own and type(value) is type(own) for value in others)
    if said["alone"]:
        return None if same == itself else f"{same} rows have {own}"
    if said["same"]:
        share = 100 * same / len(others)
        return (
            None
            if abs(float(said["same"]) - share) <= half_unit(said["same"]) * (1 + 1e-9)
            else f"it is {share} %"
        )
    return None


def _wrong_side(said, own, others, told, itself):
    if "known values" not in said["who"] and len(told) < len(others):
        return "some rows have no value"
    more = said["side"].startswith(("higher", "later"))
    passed = sum((value < own) if more else (value > own) for value in told)
    if said["all"]:
        return None if passed == len(told) - itself else f"{len(told) - passed} are not {said['side']}"
    share = 100 * passed / len(told)
    return None if 80 <= float(said["share"]) <= share + 1e-9 else f"it is {share} %"


def _end(text, own):
    if isinstance(own, dt.date):
        return dt.datetime.strptime(text, "%b %d, %Y").date()
    if isinstance(own, tuple):
        time = dt.datetime.strptime(text, "%I:%M\u202f%p")
        return time.hour, time.minute
    return number(text)
