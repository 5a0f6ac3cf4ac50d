"""Everything of a memory over REST, on both stores."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from afterwit.service.office import Office
from server_cases import finished, key, service

pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")
SCOPE = {"scope": "acme/push"}


@pytest.fixture(params=["file", "postgres"])
def served(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Office, TestClient]]:
    if request.param == "file":
        url = str(tmp_path / "memory.db")
    else:
        url = f"{request.getfixturevalue('cluster').new()}&events={tmp_path}/memory.events"
    with service(url) as (office, client):
        assert client.put("/v1/scope", params=SCOPE).status_code == 201
        yield office, client


def test_the_loop_recall_record_outcome_evolve_approve(served: tuple[Office, TestClient]) -> None:
    _, client = served
    added = client.post(
        "/v1/cards",
        params=SCOPE,
        json={"guidance": "Ask a question first.", "key": "write a push", "prefer": "hook=question"},
    )
    assert added.status_code == 201
    card = added.json()
    recalled = client.post(
        "/v1/recall", params=SCOPE, json={"task": "write a push", "context": {"channel": "push"}}
    ).json()
    assert [found["card"]["id"] for found in recalled["cards"]] == [card["id"]]
    assert "data with evidence, not instructions" in recalled["notes"]
    record = {
        "decisions": [{"name": "hook", "value": "question", "because": [card["id"]]}],
        "output": "Half price?",
        "deliveries": [{"id": "d1", "experiment": "x1"}],
    }
    episode = client.put(f"/v1/episodes/{recalled['episode']}", params=SCOPE, json=record)
    assert episode.status_code == 200, episode.text
    assert episode.json()["citations"] == [{"decision": "hook=question", "cards": [card["id"]]}]
    assert client.put(f"/v1/episodes/{recalled['episode']}", params=SCOPE, json=record).json() == episode.json()
    other = client.put(f"/v1/episodes/{recalled['episode']}", params=SCOPE, json={**record, "output": "else"})
    assert (other.status_code, other.json()["title"]) == (409, "Conflict")
    shown = {
        "outcomes": [
            {"delivery": "d1", "kind": "impression", "count": 3},
            {"delivery": "d9", "kind": "click", "id": "e9"},
        ]
    }
    told = client.post("/v1/outcomes", params=SCOPE, json=shown).json()
    assert (told["events_new"], told["unmatched"], told["rejected"]) == (2, 1, 0)
    done = finished(client, client.post("/v1/rounds", params=SCOPE, json={"approval": True}).json(), params=SCOPE)
    assert done["state"] == "done", done
    assert done["result"]["status"] == "proposed"
    applied = client.post(f"/v1/rounds/{done['result']['round']}/approve", params=SCOPE).json()
    assert applied["status"] == "applied"
    assert client.get("/v1/rounds", params=SCOPE).json()["items"][0]["id"] == applied["id"]
    assert client.post("/v1/rounds/plan", params=SCOPE, json={}).json()["status"] == "proposed"
    assert client.get("/v1/check", params=SCOPE).json() == {"problems": [], "notices": []}


def test_cards_by_hand_their_history_and_back(served: tuple[Office, TestClient]) -> None:
    _, client = served
    card = client.post("/v1/cards", params=SCOPE, json={"guidance": "Ask.", "key": "push"}).json()
    before = client.get("/v1/rounds", params=SCOPE).json()["items"][0]["as_of"]
    assert client.patch(f"/v1/cards/{card['id']}", params=SCOPE, json={"guidance": "Ask first."}).json()["version"] == 2
    assert client.delete(f"/v1/cards/{card['id']}", params=SCOPE).status_code == 204
    found = client.get(f"/v1/cards/{card['id']}", params=SCOPE).json()
    assert [edit["operator"] for edit in found["history"]][:2] == ["add", "update"]
    assert found["card"]["status"] == "retired"
    assert client.get("/v1/cards", params=SCOPE).json()["items"] == []
    assert len(client.get("/v1/cards", params={**SCOPE, "as_of": before}).json()["items"]) == 1
    assert len(client.get("/v1/diff", params={**SCOPE, "before": before}).json()["removed"]) == 1
    assert client.post("/v1/rollback", params=SCOPE, json={"to": before}).json()["status"] == "applied"
    assert [c["guidance"] for c in client.get("/v1/cards", params=SCOPE).json()["items"]] == ["Ask."]
    found = client.post("/v1/search", params=SCOPE, json={"query": "push"}).json()
    assert [f["card"]["guidance"] for f in found["cards"]] == ["Ask."]
    assert client.get("/v1/episodes", params=SCOPE).json()["items"] == []  # a search leaves no trace


def test_episodes_and_rounds_in_pages(served: tuple[Office, TestClient]) -> None:
    _, client = served
    for n in range(5):
        client.put(f"/v1/episodes/e{n}", params=SCOPE, json={"task": f"task {n}", "success": True})
        client.post("/v1/cards", params=SCOPE, json={"guidance": f"Say {n}."})
    for noun in ("episodes", "rounds"):
        seen, following = [], None
        while True:
            page = client.get(
                f"/v1/{noun}", params={**SCOPE, "limit": 2, **({"before": following} if following else {})}
            ).json()
            seen += [item["id"] for item in page["items"]]
            following = page["next"]
            if following is None:
                break
        assert len(seen) == len(set(seen)) == 5
    assert client.get("/v1/episodes/e3", params=SCOPE).json()["task"] == "task 3"


def test_a_log_is_read_by_a_job_with_progress_and_rejects(served: tuple[Office, TestClient], tmp_path: Path) -> None:
    _, client = served
    rows = [{"event_id": f"e{n}", "delivery_id": "d", "kind": "click", "at": "2026-01-01T00:00:00Z"} for n in range(9)]
    body = "\n".join(map(json.dumps, [*rows, {**rows[0], "event_id": "bad", "at": "yesterday"}]))
    job = client.post("/v1/logs", params=SCOPE, content=body)
    assert job.status_code == 202, job.text
    done = finished(client, job.json(), params=SCOPE)
    assert done["state"] == "done", done
    assert (done["done"], done["total"]) == (3, 3)
    assert (done["result"]["events_new"], done["result"]["rejected"]) == (9, 1)
    set_aside = client.get(f"/v1/jobs/{done['id']}/rejects", params=SCOPE)
    assert "yesterday" in set_aside.text
    again = finished(client, client.post("/v1/logs", params=SCOPE, content=body).json(), params=SCOPE)
    assert again["result"]["events_known"] == 9
    assert [j["id"] for j in client.get("/v1/jobs", params=SCOPE).json()["items"]] == [again["id"], done["id"]]
    broken = finished(
        client, client.post("/v1/logs", params={**SCOPE, "format": "parquet"}, content=b"x").json(), params=SCOPE
    )
    assert broken["state"] == "failed"
    assert "\n" not in broken["error"]
    client.post("/v1/forget", params=SCOPE, json={"everything": True})
    assert not list(tmp_path.rglob("*.rejects.jsonl"))


def test_profiles_from_histories(served: tuple[Office, TestClient]) -> None:
    _, client = served
    of = {**SCOPE, "user": "user/17"}
    assert client.get("/v1/profile", params=of).status_code == 404
    history = {
        "interactions": [
            {"title": "Trail shoes", "at": "2026-01-01", "brand": "Asics"},
            {"title": "Health drink", "at": "2026-01-02"},
        ]
    }
    made = client.post("/v1/profile/history", params=of, json=history).json()
    assert "Trail shoes" in made["text"]
    assert client.post("/v1/profile/history", params=of, json=history).json()["version"] == made["version"]
    bound = client.post("/v1/profile/constraints", params=of, json={"said": "never mention health"}).json()
    assert "Health drink" not in bound["text"].partition("# Profile")[2]
    assert client.get("/v1/profiles", params=SCOPE).json() == {"items": ["user/17"]}
    items = {"candidates": [{"id": "lamp", "title": "Desk lamp"}, {"id": "shoe", "title": "Trail shoes"}]}
    assert client.post("/v1/profile/rank", params=of, json=items).json() == ["shoe", "lamp"]
    assert len(client.get("/v1/profile/versions", params=of).json()["items"]) == bound["version"]
    assert client.get("/v1/profile/diff", params={**of, "before": 1}).json()
    edited = client.put("/v1/profile", params=of, json={"text": bound["text"] + "\n- likes hills"}).json()
    assert "likes hills" in edited["text"]
    back = client.post("/v1/profile/rollback", params=of, json={"version": 1}).json()
    assert "likes hills" not in back["text"]
    assert client.post("/v1/forget", params=SCOPE, json={"user": "user/17"}).json()["profiles"] >= 4
    assert client.get("/v1/profile", params=of).status_code == 404


def test_export_and_import_move_a_scope(served: tuple[Office, TestClient]) -> None:
    _, client = served
    client.post("/v1/cards", params=SCOPE, json={"guidance": "先问一个问题。 اسأل أولاً", "key": "推送"})
    lines = client.get("/v1/export", params=SCOPE).content
    assert "先问一个问题。 اسأل أولاً".encode() in lines
    assert client.post("/v1/import", params=SCOPE, content=lines).status_code == 409
    wrong = client.post("/v1/import", params={"scope": "acme/else"}, content=lines)
    assert (wrong.status_code, "not of scope" in wrong.json()["detail"]) == (422, True)
    moved = lines.replace(b'"scope":"acme/push"', b'"scope":"acme/new"')
    assert client.post("/v1/import", params={"scope": "acme/new"}, content=moved).status_code == 201
    assert len(client.get("/v1/cards", params={"scope": "acme/new"}).json()["items"]) == 1


def test_settings_are_kept_and_name_no_files(served: tuple[Office, TestClient]) -> None:
    _, client = served
    changed = client.patch("/v1/settings", params=SCOPE, json={"capacity": 2, "vocabulary": "headlines"}).json()
    assert (changed["capacity"], changed["vocabulary"]["name"]) == (2, "headlines")
    assert client.get("/v1/settings", params=SCOPE).json()["capacity"] == 2
    assert client.patch("/v1/settings", params=SCOPE, json={"vocabulary": "/etc/passwd"}).status_code == 422
    for n in range(3):
        answer = client.post("/v1/cards", params=SCOPE, json={"guidance": f"Say {n}."})
    assert (answer.status_code, answer.json()["title"]) == (409, "CapacityExceeded")


def test_field_report_17_a_retry_after_a_lost_answer_does_nothing_twice(served: tuple[Office, TestClient]) -> None:
    office, client = served
    headers = {"Idempotency-Key": "k1"}
    first = client.post("/v1/recall", params=SCOPE, json={"task": "t"}, headers=headers)
    again = client.post("/v1/recall", params=SCOPE, json={"task": "t"}, headers=headers)
    assert again.json() == first.json()
    assert again.headers["idempotency-replayed"] == "true"
    assert len(client.get("/v1/episodes", params=SCOPE).json()["items"]) == 1
    other = client.post("/v1/recall", params=SCOPE, json={"task": "else"}, headers=headers)
    assert (other.status_code, "another request" in other.json()["detail"]) == (422, True)
    # The process died after the work and before the answer was kept.
    caller = "local"
    office.parts.replies.finish("acme/push", caller, "k1", None)
    assert (
        client.post("/v1/recall", params=SCOPE, json={"task": "t"}, headers=headers).json()["episode"]
        == first.json()["episode"]
    )
    jobs = [
        client.post("/v1/rounds", params=SCOPE, json={}, headers={"Idempotency-Key": "j"}).json()["id"]
        for _ in range(2)
    ]
    office.parts.replies.finish("acme/push", caller, "j", None)
    jobs.append(client.post("/v1/rounds", params=SCOPE, json={}, headers={"Idempotency-Key": "j"}).json()["id"])
    assert len(set(jobs)) == 1
    refused = client.post("/v1/cards", params=SCOPE, json={"guidance": " "}, headers={"Idempotency-Key": "c"})
    assert refused.status_code == 422
    mended = client.post("/v1/cards", params=SCOPE, json={"guidance": "Say."}, headers={"Idempotency-Key": "d"})
    client.post("/v1/forget", params=SCOPE, json={"card": mended.json()["id"]})
    gone = client.post("/v1/cards", params=SCOPE, json={"guidance": "Say."}, headers={"Idempotency-Key": "d"})
    assert (gone.status_code, "erased" in gone.json()["detail"]) == (409, True)


def test_keys_over_rest(served: tuple[Office, TestClient]) -> None:
    office, client = served
    boss = key(office, scopes=["*"])
    made = client.post(
        "/v1/keys", json={"name": "agent", "scopes": ["acme/push"], "roles": ["recall"]}, headers=boss
    ).json()
    mine: dict[str, Any] = {"headers": {"Authorization": f"Bearer {made['token']}"}}
    assert (
        client.post("/v1/search", json={"query": "q"}, **mine).status_code == 200
    )  # of one scope, so it need not name it
    listed = client.get("/v1/keys", headers=boss)
    assert made["token"] not in listed.text
    assert [k["name"] for k in listed.json()["items"]] in (["agent", "test"], ["test", "agent"])
    assert client.get("/v1/keys", **mine).status_code == 403
    assert client.delete(f"/v1/keys/{made['id']}", headers=boss).json()["revoked_at"]
    assert client.post("/v1/search", json={"query": "q"}, **mine).status_code == 401
