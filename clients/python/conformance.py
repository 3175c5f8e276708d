"""Runs the calls of the conformance suite (clients/conformance/README.md): `python conformance.py sync` or `async`."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

sys.path.insert(0, str(Path(__file__).parent / "src"))

from fatoura import ApiError, AsyncFatoura, Fatoura, FatouraError, _following, amounts, webhooks  # noqa: E402

POSITIONAL = {
    "invoices.list": 0,
    "invoices.credit": 2,
    "invoices.replace": 2,
    "drafts.update": 2,
    "webhookEndpoints.list": 0,
    "webhookEndpoints.update": 2,
    "webhooks.verify": 3,
}
"""The number of a call's arguments before its options. Default: one."""

MODULES = {"webhooks": webhooks, "amounts": amounts}

Client = TypeVar("Client", Fatoura, AsyncFatoura)
clients: dict[str, Any] = {}


def client_of(make: Callable[..., Client], call: Mapping[str, Any]) -> Client:
    """One client for each set of options, as a program has it."""
    options = named(call.get("options", {}))
    _following.longest_silence = options.pop("silence", 40.0)
    name = json.dumps(options)
    if name not in clients:
        clients[name] = make(**{"key": os.environ["FATOURA_KEY"], **options})
    return clients[name]  # type: ignore[no-any-return]


def begun(client: Fatoura | AsyncFatoura, call: Mapping[str, Any]) -> Any:
    """Begins a call. Returns its result, or what it is read from."""
    resource, method = snake(call["call"]).split(".")
    count = POSITIONAL.get(call["call"], 1)
    options = named(call["args"][count] if len(call["args"]) > count else {})
    of = MODULES.get(resource) or getattr(client, resource)
    found = getattr(of, method)(*call["args"][:count], **options)
    return asdict(found) if isinstance(found, amounts.Totals) else found


def named(options: Mapping[str, Any]) -> dict[str, Any]:
    """Names in Python's style, and seconds for milliseconds."""
    is_time = re.compile("(Ms|^now)$").search
    return {snake(name).removesuffix("_ms"): each / 1000 if is_time(name) else each for name, each in options.items()}


def snake(name: str) -> str:
    return re.sub("[A-Z]", lambda found: f"_{found[0].lower()}", name)


def shown(error: Exception) -> dict[str, Any]:
    if isinstance(error, (ValueError, TypeError)):
        return {"class": "ArgumentError", "message": str(error)}
    key = error.idempotency_key if isinstance(error, FatouraError) else None
    said = {"class": type(error).__name__, "message": str(error), "idempotencyKey": key}
    if not isinstance(error, ApiError):
        return said
    has_request_id = error.request_id is not None
    return {**said, "code": error.code, "param": error.param, "status": error.status, "hasRequestId": has_request_id}


def run(call: Mapping[str, Any]) -> dict[str, Any]:
    if call["call"] == "many":
        with ThreadPoolExecutor(100) as threads:
            return {"ok": list(threads.map(run, call["args"][0]))}
    try:
        found = begun(client_of(Fatoura, call), call)
        return {"ok": found if isinstance(found, (dict, list, str, int)) or found is None else list(found)}
    except (FatouraError, ValueError, TypeError) as error:
        return {"error": shown(error)}


async def run_async(call: Mapping[str, Any]) -> dict[str, Any]:
    if call["call"] == "many":
        return {"ok": await asyncio.gather(*(run_async(each) for each in call["args"][0]))}
    try:
        found = begun(client_of(AsyncFatoura, call), call)
        if hasattr(found, "__aiter__"):
            return {"ok": [each async for each in found]}
        return {"ok": await found if hasattr(found, "__await__") else found}
    except (FatouraError, ValueError, TypeError) as error:
        return {"error": shown(error)}


def main() -> None:
    loop = asyncio.new_event_loop()
    for line in sys.stdin:
        call = json.loads(line)
        result = loop.run_until_complete(run_async(call)) if sys.argv[1] == "async" else run(call)
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
