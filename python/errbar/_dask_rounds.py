"""Rounds on a Dask cluster: parts of the rows are opened on the workers that have them, and asked there.

What a worker holds for a fit is lost with it. Its parts are then opened on another one, from the graph that made them, and
asked again everything they had been asked: the answers are the same, and so is the fit.
"""

from __future__ import annotations

import threading
import zlib
from typing import Any

from . import _errbar
from ._dask_rows import Known, Raw, in_part, inputs_of, numbers_of

# Of each fit the parts that are held by this process, by the name of their bundle.
_HELD: dict[str, _errbar.Parts] = {}
_LOCK = threading.Lock()

# What a worker says that has never heard of a bundle, or was restarted since.
LOST = b""


def open_bundle(bundle: str, opening: bytes, known: Known, numbers: list[int], firsts: list[int], raws: list[Raw]) -> list[bytes]:
    """Opens parts here; the first answer of each."""
    parts = _errbar.Parts(opening)
    answers = []
    for number, first, raw in zip(numbers, firsts, raws):
        with in_part(number):
            answers.append(parts.open(number, first, inputs_of(raw.X, known), raw.error, raw.weight, numbers_of(raw.group)))
    with _LOCK:
        _HELD[bundle] = parts
    return answers


def ask_bundle(bundle: str, nth: int, asks: list[bytes], threads: int) -> bytes:
    """Asks the parts of a bundle, of questions from the nth on what they have not answered yet; the last answer."""
    with _LOCK:
        parts = _HELD.get(bundle)
    if parts is None or parts.asked < nth:
        return LOST
    answer = LOST
    for ask in asks[parts.asked - nth :]:
        answer = parts.answer(ask, threads)
    return answer


def forget(fit: str) -> None:
    """Lets go of what a fit held here."""
    with _LOCK:
        for bundle in [one for one in _HELD if one.startswith(fit)]:
            del _HELD[bundle]


class Bundle:
    """Parts on one worker."""

    def __init__(self, name: str, worker: str, threads: int, numbers: list[int]) -> None:
        self.name = name
        self.worker = worker
        self.threads = threads
        self.numbers = numbers


class Rounds:
    """Asks all parts of a fit, wherever they are."""

    def __init__(self, client: Any, fit: str, parts: list[Any], firsts: list[int], opening: bytes, known: Known) -> None:
        self.client = client
        self.fit = fit
        self.parts = parts
        self.firsts = firsts
        self.opening = opening
        self.known = known
        self.history: list[bytes] = []
        self.bundles: list[Bundle] = []
        self.moves = 0
        self.largest = len(opening)

    def open(self, futures: dict[int, Any]) -> list[bytes]:
        """Opens every part where it lies; their first answers in order."""
        holders = self.client.who_has(list(futures.values()))
        alive = self._alive()
        at: dict[str, list[int]] = {}
        for number, future in futures.items():
            found = [worker for worker in holders.get(future.key, ()) if worker in alive]
            # Nobody has it any more: it is made again by whoever has least to do.
            worker = min(found or alive, key=lambda one: len(at.get(one, ())))
            at.setdefault(worker, []).append(number)
        first: dict[int, bytes] = {}
        waiting: list[tuple[Bundle, Any]] = []
        for worker, numbers in at.items():
            bundle = Bundle(f"{self.fit}-{len(waiting)}", worker, alive[worker], numbers)
            waiting.append((bundle, self._open(bundle, [futures[number] for number in numbers])))
        for bundle, future in waiting:
            while True:
                answers = self._result(bundle, future)
                if answers is not None:
                    break
                self._move(bundle)
                future = self._open(bundle, self.client.compute([self.parts[number] for number in bundle.numbers]))
            first.update(zip(bundle.numbers, answers))
            self.bundles.append(bundle)
        self.largest = max(self.largest, *(len(answer) for answer in first.values()))
        return [first[number] for number in range(len(self.parts))]

    def ask(self, ask: bytes) -> list[bytes]:
        """Asks every part, and waits for the answers: one of each bundle."""
        nth = len(self.history)
        # Only for those who are lost, and mostly zeros.
        self.history.append(zlib.compress(ask, 1))
        futures = [self._ask(bundle, nth, [ask]) for bundle in self.bundles]
        answers = [self._answer(bundle, future) for bundle, future in zip(self.bundles, futures)]
        self.largest = max(self.largest, len(ask), *(len(answer) for answer in answers))
        return answers

    def close(self) -> None:
        """Lets go of what workers hold for this fit."""
        try:
            self.client.run(forget, self.fit, on_error="ignore")
        except Exception:  # a cluster that is gone holds nothing
            pass

    def _answer(self, bundle: Bundle, future: Any) -> bytes:
        while True:
            answer = self._result(bundle, future)
            if answer:
                return bytes(answer)
            # The worker is gone, or is another one than before: elsewhere, from the beginning.
            self._move(bundle)
            raws = self.client.compute([self.parts[number] for number in bundle.numbers])
            opened = self._result(bundle, self._open(bundle, raws))
            if opened is not None:
                future = self._ask(bundle, 0, [zlib.decompress(ask) for ask in self.history])

    def _open(self, bundle: Bundle, raws: list[Any]) -> Any:
        firsts = [self.firsts[number] for number in bundle.numbers]
        return self._submit(bundle, "open", open_bundle, bundle.name, self.opening, self.known, bundle.numbers, firsts, raws)

    def _ask(self, bundle: Bundle, nth: int, asks: list[bytes]) -> Any:
        return self._submit(bundle, "round", ask_bundle, bundle.name, nth, asks, bundle.threads)

    def _submit(self, bundle: Bundle, what: str, function: Any, *arguments: Any) -> Any:
        self.moves += 1
        key = f"errbar-{what}-{self.fit}-{self.moves}"
        return self.client.submit(function, *arguments, key=key, workers=[bundle.worker], pure=False, priority=10)

    def _result(self, bundle: Bundle, future: Any) -> Any:
        """What came of a task, or None where its worker is gone."""
        from distributed import wait

        while True:
            try:
                wait([future], timeout=1.0)
            except TimeoutError:
                if bundle.worker in self._alive():
                    continue
                future.cancel()
                return None
            if future.status == "finished":
                return future.result()
            if future.status == "error" and not self._lost(future.exception()):
                raise future.exception()
            if future.status in ("cancelled", "lost", "error"):
                return None

    @staticmethod
    def _lost(error: Any) -> bool:
        """Whether an error says that a worker is gone, and nothing of the rows."""
        return type(error).__name__ in ("KilledWorker", "CommClosedError", "FutureCancelledError", "CancelledError")

    def _alive(self) -> dict[str, int]:
        """The workers there are, and how many threads each has."""
        return dict(self.client.nthreads())

    def _move(self, bundle: Bundle) -> None:
        """To the worker with the fewest parts."""
        self.client.wait_for_workers(1)
        alive = self._alive()
        load = dict.fromkeys(alive, 0)
        for other in self.bundles:
            if other is not bundle and other.worker in load:
                load[other.worker] += len(other.numbers)
        bundle.worker = min(load, key=lambda one: (one == bundle.worker, load[one]))
        bundle.threads = alive[bundle.worker]
