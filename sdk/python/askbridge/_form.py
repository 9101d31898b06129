"""What is asked, as the inbox takes it, and the value that comes back."""

from __future__ import annotations

import os
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from ._error import AskbridgeError, Rejected, TimedOut, Withdrawn, printable

Json = Dict[str, Any]
Options = Union[Sequence[Union[str, Mapping[str, Any]]], Mapping[str, str]]
Path = Union[str, "os.PathLike[str]"]

#: The only field of a question that has one value. `askbridge ask` calls it so too.
ONE = "q0"
LONGEST_KEY = 255
#: 300 years.
LONGEST_TIME = 1e10
ENDS = {"timeout": TimedOut, "withdrawn": Withdrawn}


def question(
    message: str,
    *,
    fields: Optional[Sequence[Mapping[str, Any]]],
    schema: Any,
    options: Optional[Options],
    title: Optional[str],
    agent: Optional[str],
    project: Optional[Path],
    session: Optional[str],
    timeout: Optional[float],
    secret: bool,
    dangerous: bool,
) -> Json:
    """Returns the body of a question."""
    if sum(asked is not None for asked in (fields, schema, options)) + secret > 1:
        raise ValueError("a question has fields, a schema, options or a secret text: only one of them")
    about = common(title=title, agent=agent, project=project, session=session, timeout=timeout)
    if dangerous:
        about["dangerous"] = True
    if fields is not None:
        return {"message": message, "fields": [dict(field) for field in fields], **about}
    if schema is not None:
        return {"message": message, "schema": schema, **about}
    if not message:
        raise ValueError("a question needs a message, fields or a schema")
    one: Json = {"name": ONE, "label": message, "required": True, "kind": "text"}
    if options is not None:
        one.update(kind="choice", options=_options(options))
    if secret:
        one["secret"] = True
    return {"message": "", "fields": [one], **about}


def common(
    *,
    title: Optional[str],
    agent: Optional[str],
    project: Optional[Path],
    session: Optional[str],
    timeout: Optional[float],
) -> Json:
    """Returns the members that every question may have."""
    if timeout is not None and not 0 < timeout < LONGEST_TIME:
        raise ValueError(f"a timeout is a number of seconds above 0, not {timeout!r}")
    members = {
        "title": title,
        "agent": agent,
        "project": None if project is None else os.path.abspath(os.fspath(project)),
        "sessionId": session,
        "timeoutMs": None if timeout is None else max(1, round(timeout * 1000)),
    }
    return {name: value for name, value in members.items() if value is not None}


def has_secret(body: Json) -> bool:
    """Returns whether a question asks for something that nothing may keep."""
    return any(field.get("secret") for field in body.get("fields", ()))


def checked_key(key: Optional[str]) -> Optional[str]:
    """Returns the key, if it can be sent in a header."""
    if key is None:
        return None
    if not isinstance(key, str) or not 0 < len(key) <= LONGEST_KEY or not all(" " <= letter <= "~" for letter in key):
        raise ValueError(f"a key has 1 to {LONGEST_KEY} printable characters of ASCII: hash a longer name")
    return key


def value_of(settlement: Json, names: List[str], id: Optional[str] = None) -> Any:
    """Returns what was answered: the JSON value of a schema, the value of the only field, or the values by name."""
    outcome = settlement.get("outcome") or {}
    if outcome.get("status") != "answered":
        raise rejection(settlement, id)
    if "value" in settlement:
        return settlement["value"]
    values = outcome.get("values") or {}
    return values.get(ONE) if names == [ONE] else values


def rejection(settlement: Json, id: Optional[str] = None) -> Rejected:
    """Returns the error of a question that ended without an answer."""
    outcome = settlement.get("outcome") or {}
    reason = str(outcome.get("reason") or outcome.get("status") or "unknown")
    remark = settlement.get("remark")
    which = f"question {id}" if id else "the question"
    ended = {"timeout": "was not answered in time", "withdrawn": "was withdrawn"}.get(reason, f"was rejected ({reason})")
    said = f": {printable(remark)}" if remark else ""
    kind = ENDS.get(reason, Rejected)
    return kind(f"{which} {ended}{said}", reason=reason, remark=remark, by=settlement.get("by"), id=id)


def names_in(fields: Any) -> List[str]:
    """Returns the names of fields."""
    return [str(field.get("name")) for field in fields or ()]


def settlement_in(record: Json) -> Optional[Json]:
    """Returns how a question was settled. `None` while it is open."""
    settlement = record.get("settlement")
    if isinstance(settlement, dict):
        return settlement
    if record.get("state") == "lost":
        raise AskbridgeError(
            f"question {record.get('id')} is lost: whoever asked it is gone, and nobody knows how it ended"
        )
    return None


def _options(options: Options) -> List[Json]:
    if isinstance(options, str):
        raise ValueError(f"options are a list of texts, not the text {options!r}")
    if isinstance(options, Mapping):
        made = [{"value": value, "label": label} for value, label in options.items()]
    else:
        made = [{"value": one, "label": one} if isinstance(one, str) else dict(one) for one in options]
    for member in ("value", "label"):
        texts = [one.get(member) for one in made]
        if not texts or not all(texts) or len(set(texts)) < len(texts):
            raise ValueError(f"options need a {member} each, which no other has, and at least one: {texts!r}")
    return made
