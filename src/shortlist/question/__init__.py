"""What can be asked, declared once: functions in Python and commands of the program are both made from it."""

from shortlist.question.questions import (
    EvaluateQuestion,
    MonitorQuestion,
    Question,
    RankQuestion,
    StudyQuestion,
    TrainQuestion,
)

__all__ = [
    "EvaluateQuestion",
    "MonitorQuestion",
    "Question",
    "RankQuestion",
    "StudyQuestion",
    "TrainQuestion",
]
