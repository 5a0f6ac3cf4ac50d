"""Frozen values, standard library only: what the rooms hand to one another."""

from afterwit.model.access import ROLES, Answered, Key, Role
from afterwit.model.card import Card, OperatorName, Posterior, Provenance, Stance, Status, Trial
from afterwit.model.chat import Ask, Message, Reply
from afterwit.model.condition import Clause, Condition, Context, Value
from afterwit.model.credit import Credit, Evidence, Interval, LifecycleVerdict, Refusal, Verdict
from afterwit.model.edit import Bank, Batch, Edit, Round, Waiting, fold
from afterwit.model.episode import Citation, Decision, Delivery, Draft, Episode, Recalled, Step, Task
from afterwit.model.ids import content_hash, new_id
from afterwit.model.note import Added, Note
from afterwit.model.page import Availability, Box, ItemCard, PageText, Picture, Screenshot, TextLine, Tile
from afterwit.model.profile import Interaction, Profile, ProfileOperator
from afterwit.model.settings import KeptVocabulary, Settings, SettingsChange
from afterwit.model.stage import Attribution, Lesson, Stage, StageVerdict
from afterwit.model.text import count_tokens, normalised

__all__ = [
    "ROLES",
    "Added",
    "Answered",
    "Ask",
    "Attribution",
    "Availability",
    "Bank",
    "Batch",
    "Box",
    "Card",
    "Citation",
    "Clause",
    "Condition",
    "Context",
    "Credit",
    "Decision",
    "Delivery",
    "Draft",
    "Edit",
    "Episode",
    "Evidence",
    "Interaction",
    "Interval",
    "ItemCard",
    "KeptVocabulary",
    "Key",
    "Lesson",
    "LifecycleVerdict",
    "Message",
    "Note",
    "OperatorName",
    "PageText",
    "Picture",
    "Posterior",
    "Profile",
    "ProfileOperator",
    "Provenance",
    "Recalled",
    "Refusal",
    "Reply",
    "Role",
    "Round",
    "Screenshot",
    "Settings",
    "SettingsChange",
    "Stage",
    "StageVerdict",
    "Stance",
    "Status",
    "Step",
    "Task",
    "TextLine",
    "Tile",
    "Trial",
    "Value",
    "Verdict",
    "Waiting",
    "content_hash",
    "count_tokens",
    "fold",
    "new_id",
    "normalised",
]
