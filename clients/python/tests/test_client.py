"""What the conformance suite cannot see. Run with `python -m unittest discover -s tests`."""

from __future__ import annotations

import asyncio
import copy
import pickle
import socket
import sys
import threading
import time
import traceback
import unittest
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest import mock

import httpx

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from fatoura import (  # noqa: E402
    AsyncFatoura,
    Attempt,
    CancelledError,
    ConnectionError,
    Fatoura,
    ServiceError,
    SignatureError,
    centimes,
    dirhams,
    totals,
    webhooks,
)
from fatoura._event_stream import EventReader, StreamMessage  # noqa: E402

KEY = "sk_test_secret"
INVOICE = {"id": "inv_1", "object": "invoice", "dgi_id": None, "rejection_reason": None, "updated_at": ""}


def client_of(answer: Callable[[httpx.Request], httpx.Response], max_retries: int = 4) -> Fatoura:
    client = httpx.Client(transport=httpx.MockTransport(answer))
    return Fatoura(KEY, base_url="http://service.test", client=client, max_retries=max_retries)


@contextmanager
def service_of(*parts: bytes, pause: float) -> Iterator[str]:
    """A service whose answers begin with these parts, each so many seconds after the one before, and have no end."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    with connection, suppress(OSError):
                        connection.recv(10_000)
                        for part in parts:
                            connection.sendall(part)
                            time.sleep(pause)
                        connection.recv(1)

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


class Amounts(unittest.TestCase):
    def test_texts_are_read_exactly(self) -> None:
        for text, expected in {"1234.5": 123450, "0.29": 29, "-0.05": -5, " 12 ": 1200}.items():
            self.assertEqual(centimes(text), expected)
        self.assertEqual(centimes(Decimal("1E+3")), 100_000)

    def test_what_is_no_amount_is_refused(self) -> None:
        for text in ["1,5", "1.234", "1e3", "", "٣", "1.5\n2", "+1"]:
            self.assertRaises(ValueError, centimes, text)
        self.assertRaises(TypeError, centimes, 0.1)

    def test_centimes_are_written_in_dirhams(self) -> None:
        self.assertEqual([dirhams(each) for each in (123450, 5, -5, 0)], ["1234.50", "0.05", "-0.05", "0.00"])

    def test_vat_is_computed_once_for_each_rate_and_rounded_half_up(self) -> None:
        made = totals(
            [
                {"description": "a", "quantity": 1, "unit_price": 5, "tax_rate": 10},
                {"description": "b", "quantity": 3, "unit_price": 33},
                {"description": "c", "quantity": 1, "unit_price": 2, "tax_rate": 20},
                {"description": "d", "quantity": 1, "unit_price": 7, "tax_rate": 0},
            ]
        )
        rates = [
            {"rate": 20, "base": 101, "tax": 20},
            {"rate": 10, "base": 5, "tax": 1},
            {"rate": 0, "base": 7, "tax": 0},
        ]
        self.assertEqual(made.tax_totals, rates)
        self.assertEqual((made.subtotal, made.tax_total, made.total), (113, 21, 134))

    def test_what_is_not_exact_is_refused(self) -> None:
        writes: Callable[..., object] = dirhams
        adds: Callable[..., object] = totals
        for wrong in (12.5, 12.0, Decimal(1), "5"):
            self.assertRaisesRegex(TypeError, "centimes must be an int", writes, wrong)
        line = {"quantity": 1, "unit_price": 3}
        for name, amount in (("quantity", 0.1), ("unit_price", 3.0), ("tax_rate", 20.0)):
            self.assertRaisesRegex(TypeError, f"{name} must be an int", adds, [{**line, name: amount}])


class Webhooks(unittest.TestCase):
    def test_headers_of_wsgi_are_read(self) -> None:
        with self.assertRaisesRegex(SignatureError, "another time"):
            webhooks.verify(b"{}", {"HTTP_SERVICE_SIGNATURE": "t=1,v1=00"}, "whsec_a")

    def test_a_missing_secret_is_named_and_one_of_a_rotation_may_be_missing(self) -> None:
        verify: Callable[..., object] = webhooks.verify
        for missing in (None, [], [None], "", [""], b"whsec_a"):
            self.assertRaisesRegex(SignatureError, "whsec_", verify, b"{}", {}, missing)
        without: list[dict[str, str] | None] = [{}, None]
        for headers in without:
            self.assertRaisesRegex(SignatureError, "header", verify, b"{}", headers, [None, "", "whsec_a"])

    def test_a_tolerance_that_is_no_number_is_refused(self) -> None:
        verify: Callable[..., object] = webhooks.verify
        headers = {"Service-Signature": "t=1,v1=00"}
        for wrong in (float("nan"), -1, None, "300"):
            self.assertRaisesRegex(SignatureError, "tolerance", verify, b"{}", headers, "whsec_a", tolerance=wrong)
        infinite = float("inf")
        self.assertRaisesRegex(SignatureError, "fit", verify, b"{}", headers, "whsec_a", tolerance=infinite)

    def test_a_signature_of_other_characters_does_not_fit(self) -> None:
        with self.assertRaisesRegex(SignatureError, "fit"):
            webhooks.verify(b"{}", {"Service-Signature": "t=1,v1=é"}, "whsec_a", now=1)


class EventStreams(unittest.TestCase):
    def test_lines_and_characters_may_be_cut_anywhere(self) -> None:
        stream = ": hello\r\n\r\nid: 7\r\ndata: {\rdata:  é}\n\ndata: x\n\n".encode()
        expected = [StreamMessage("7", "{\n é}"), StreamMessage("7", "x")]
        for size in range(1, len(stream)):
            reader = EventReader()
            parts = [stream[at : at + size] for at in range(0, len(stream), size)]
            self.assertEqual([each for part in parts for each in reader.feed(part)], expected)


class Clients(unittest.TestCase):
    def test_nothing_that_is_printed_has_the_key(self) -> None:
        told: list[Attempt] = []
        answer = httpx.MockTransport(lambda _: httpx.Response(500))
        client = httpx.Client(transport=answer)
        fatoura = Fatoura(KEY, base_url="http://x.test", max_retries=0, client=client, on_attempt=told.append)
        with self.assertRaises(ServiceError) as raised:
            fatoura.invoices.get("inv_1")
        http = vars(fatoura)["_http"]
        shown = "".join(traceback.format_exception(raised.exception))
        printed = [fatoura, vars(fatoura), vars(http), fatoura.invoices, vars(fatoura.invoices), told, raised.exception]
        self.assertNotIn(KEY, f"{printed}{shown}")
        self.assertEqual([(each.status, each.attempt) for each in told], [(500, 1)])

    def test_a_key_may_end_with_a_line_break_and_one_with_other_characters_is_refused(self) -> None:
        Fatoura(KEY + "\n", base_url="http://x.test")
        for wrong in (KEY + "\r\nX-Other: 1", KEY + " x", KEY + "é"):
            with self.assertRaisesRegex(ValueError, "characters") as raised:
                Fatoura(wrong, base_url="http://x.test")
            self.assertNotIn(KEY, str(raised.exception))

    def test_a_key_or_an_order_number_that_is_blank_or_no_text_is_refused_before_anything_is_sent(self) -> None:
        sent: list[httpx.Request] = []

        def answer(request: httpx.Request) -> httpx.Response:
            sent.append(request)
            return httpx.Response(200, json={})

        create: Callable[..., object] = client_of(answer).invoices.create
        for name in ("order_number", "idempotency_key"):
            self.assertRaisesRegex(ValueError, f"^{name} is blank: .* leave", create, {}, **{name: "\u200f \x1c"})
            self.assertRaisesRegex(TypeError, f"^{name} must be a str, not float", create, {}, **{name: float("nan")})
        # The key is what is sent; that the number is blank is a fault of the program all the same.
        self.assertRaises(ValueError, create, {}, order_number="", idempotency_key="a")
        self.assertEqual(sent, [])

    def test_half_of_a_character_is_refused(self) -> None:
        fatoura = client_of(lambda _: httpx.Response(200, json={}))
        create: Callable[..., object] = fatoura.invoices.create
        for name in ("order_number", "idempotency_key"):
            self.assertRaisesRegex(ValueError, f"^{name} has half of a character", create, {}, **{name: "7\ud83d"})

    def test_errors_pass_from_process_to_process(self) -> None:
        fatoura = client_of(lambda _: httpx.Response(503, headers={"request-id": "req_1"}), max_retries=0)
        create: Callable[..., object] = fatoura.invoices.create
        with self.assertRaises(ServiceError) as raised:
            create({}, idempotency_key="a")
        for error in (pickle.loads(pickle.dumps(raised.exception)), copy.copy(raised.exception)):
            self.assertEqual((error.status, error.request_id, error.idempotency_key), (503, "req_1", "a"))

    def test_a_redirection_is_not_followed(self) -> None:
        fatoura = client_of(lambda _: httpx.Response(302, headers={"location": "http://other.test"}))
        self.assertRaisesRegex(Exception, "302", fatoura.invoices.get, "inv_1")

    def test_a_closed_client_ends_its_pauses(self) -> None:
        fatoura = client_of(lambda _: httpx.Response(503, headers={"retry-after": "20"}))
        threading.Timer(0.2, fatoura.close).start()
        begun = time.monotonic()
        self.assertRaises(CancelledError, fatoura.invoices.get, "inv_1")
        self.assertLess(time.monotonic() - begun, 5)

    def test_an_attempt_that_fails_after_its_client_was_closed_is_cancelled(self) -> None:
        def answer(_: httpx.Request) -> httpx.Response:
            fatoura.close()
            raise httpx.ReadError("[Errno 9] Bad file descriptor")

        fatoura = client_of(answer, max_retries=0)
        self.assertRaises(CancelledError, fatoura.invoices.get, "inv_1")

    def test_without_key_or_address_there_is_no_client(self) -> None:
        self.assertRaisesRegex(ValueError, "key", Fatoura, None, base_url="http://x.test")
        self.assertRaisesRegex(ValueError, "base_url", Fatoura, KEY, base_url="")

    def test_a_cancelled_task_ends_its_call(self) -> None:
        async def cancelled() -> None:
            transport = httpx.MockTransport(lambda _: httpx.Response(503))
            client = httpx.AsyncClient(transport=transport)
            async with AsyncFatoura(KEY, base_url="http://x.test", client=client) as fatoura:
                task = asyncio.create_task(fatoura.invoices.get("inv_1"))
                await asyncio.sleep(0.1)
                task.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await task

        asyncio.run(cancelled())

    def test_a_cancelled_creation_has_its_key_in_a_note(self) -> None:
        async def cancelled() -> list[str]:
            client = httpx.AsyncClient(transport=httpx.MockTransport(lambda _: httpx.Response(503)))
            async with AsyncFatoura(KEY, base_url="http://x.test", client=client) as fatoura:
                create: Callable[..., Any] = fatoura.invoices.create
                try:
                    await asyncio.wait_for(create({}, idempotency_key="a"), 0.1)
                except asyncio.TimeoutError as error:
                    return getattr(error.__cause__ or error.__context__, "__notes__", [])
            return []

        notes = ["POST /v1/invoices may have been done: its idempotency key is 'a'"]
        self.assertEqual(asyncio.run(cancelled()), notes if sys.version_info >= (3, 11) else [])

    def test_a_stream_that_is_held_back_gives_way_to_readings(self) -> None:
        read: list[str] = []

        def answer(request: httpx.Request) -> httpx.Response:
            read.append(request.url.path)
            if request.url.path.endswith("/stream"):
                return httpx.Response(200, headers={"content-type": "text/event-stream"})
            final = len(read) > 8
            return httpx.Response(200, json={**INVOICE, "status": "accepted" if final else "pending"})

        statuses = [each["status"] for each in client_of(answer).invoices.follow("inv_1", timeout=30)]
        self.assertEqual(statuses, ["pending", "accepted"])
        self.assertEqual(sum(each.endswith("/stream") for each in read), 4)

    def test_following_ends_at_its_time_out(self) -> None:
        answer = httpx.MockTransport(lambda _: httpx.Response(503))
        fatoura = Fatoura(KEY, base_url="http://x.test", client=httpx.Client(transport=answer))
        begun = time.monotonic()
        with self.assertRaisesRegex(ConnectionError, "no final status"):
            list(fatoura.invoices.follow("inv_1", timeout=1))
        self.assertLess(time.monotonic() - begun, 5)

    def test_a_time_out_ends_a_call_whose_head_comes_slowly(self) -> None:
        lines = [b"HTTP/1.1 200 OK\r\n", *[b"X-Late: 1\r\n"] * 30]
        with service_of(*lines, pause=0.1) as url, Fatoura(KEY, base_url=url, attempt_timeout=0.5) as fatoura:
            begun = time.monotonic()
            with self.assertRaisesRegex(ConnectionError, "no complete answer"):
                fatoura.invoices.get("inv_1", timeout=0.5)
            self.assertLess(time.monotonic() - begun, 1)

    def test_a_time_out_ends_a_call_whose_host_takes_no_connection(self) -> None:
        with socket.socket() as server, socket.socket() as waiting:
            server.bind(("127.0.0.1", 0))
            server.listen(0)
            # The queue of the server is full: further connections are left without an answer.
            waiting.connect(server.getsockname())
            with socket.socket() as further:
                further.setblocking(False)
                further.connect_ex(server.getsockname())
                host, port = server.getsockname()
                twice = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM) * 2
                url = f"http://{host}:{port}"
                with mock.patch("socket.getaddrinfo", return_value=twice), Fatoura(KEY, base_url=url) as fatoura:
                    begun = time.monotonic()
                    with self.assertRaisesRegex(ConnectionError, f"from {url} .*timed out"):
                        fatoura.invoices.get("inv_1", timeout=1)
                    self.assertLess(time.monotonic() - begun, 1.5)

    def test_a_stream_that_falls_silent_ends_at_the_time_out(self) -> None:
        status = b'data: {"status": "signing"}\n\n'
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
        with service_of(head, status, pause=0.6) as url, Fatoura(KEY, base_url=url) as fatoura:
            begun = time.monotonic()
            following = fatoura.invoices.follow("inv_1", timeout=1)
            self.assertEqual(next(following)["status"], "signing")
            with self.assertRaisesRegex(ConnectionError, "no final status"):
                next(following)
            # Without the deadline the last reading would have a second of its own.
            self.assertLess(time.monotonic() - begun, 1.4)

    def test_other_calls_between_two_messages_have_their_own_time(self) -> None:
        def answer(request: httpx.Request) -> httpx.Response:
            if request.url.path.endswith("/stream"):
                messages = [f'data: {{"status": "{each}"}}\n\n' for each in ("pending", "signing", "accepted")]
                headers = {"content-type": "text/event-stream"}
                return httpx.Response(200, headers=headers, content=(each.encode() for each in messages))
            return httpx.Response(200, json=INVOICE)

        fatoura = client_of(answer)
        statuses = []
        for message in fatoura.invoices.follow("inv_1", timeout=20):
            statuses.append(message["status"])
            self.assertEqual(fatoura.invoices.get("inv_1")["id"], "inv_1")
        self.assertEqual(statuses, ["pending", "signing", "accepted"])


if __name__ == "__main__":
    unittest.main()
