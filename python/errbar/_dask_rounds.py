"""Rounds on a Dask cluster: parts of the rows are opened on the workers that have them, and asked there.

What a worker holds for a fit is lost with it. Its parts are then opened on another one, from the graph that made them, and
asked again everything they had been asked: the answers are the same, and so is the fit.
"""

from __future__ import annotations

import asyncio
import threading
from typing import Any, NamedTuple

import numpy as np

from . import _errbar
from ._dask_rows import Known, Raw, in_part, inputs_of, numbers_of, refuse

# Of each fit the parts that are held by this process, by the name of their bundle.
_HELD: dict[str, _errbar.Parts] = {}
_LOCK = threading.Lock()

# So often the same parts are taken elsewhere: a worker that lacks the memory for them would be the next to die.
LOSSES = 5

# What a worker says that has never heard of a bundle, or was restarted since.
LOST = b""


class Cut(NamedTuple):
    """A piece of a partition, which is a part of the rows to the library."""

    number: int
    begin: int
    end: int


def cut(sizes: list[int], weighted: bool) -> list[list[Cut]]:
    """Pieces of each partition. Those that fit a processor's cache are much faster to ask; with weights each piece has a
    long answer of its own, and partitions stay whole."""
    pieces: list[list[Cut]] = []
    number = 0
    for rows in sizes:
        count = 1 if weighted else max(1, -(-rows // PIECE))
        ends = [rows * (place + 1) // count for place in range(count)]
        pieces.append([Cut(number + place, begin, end) for place, (begin, end) in enumerate(zip([0, *ends], ends))])
        number += count
    return pieces


# As many rows as the library takes at a time.
PIECE = 1 << 16


def open_bundle(
    bundle: str,
    opening: bytes,
    known: Known,
    numbers: list[int],
    firsts: list[int],
    pieces: list[list[Cut]],
    raws: list[Raw],
) -> list[list[bytes]]:
    """Opens partitions here; the first answers of each."""
    parts = _errbar.Parts(opening)
    answers = []
    for number, first, cuts, raw in zip(numbers, firsts, pieces, raws):
        with in_part(number):
            inputs, group = inputs_of(raw.X, known), numbers_of(raw.group)
            for place, name in enumerate(known.names):
                refuse(f'the input "{name}"', inputs[:, place], np.isinf(inputs[:, place]), "give a number, or leave it empty")
            own = []
            for piece, begin, end in cuts:
                weight = None if raw.weight is None else raw.weight[begin:end]
                of = None if group is None else group[begin:end]
                own.append(parts.open(piece, first + begin, inputs[begin:end], raw.error[begin:end], weight, of))
            answers.append(own)
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


async def answer_all(fit: str, nth: int, ask: bytes, dask_worker: Any = None) -> dict[str, bytes]:
    """What all bundles of a fit here say to a question. Beside the tasks of the worker, whose way through the scheduler takes
    longer than most answers, and without keeping it from what else it has to say."""
    with _LOCK:
        bundles = [bundle for bundle in _HELD if bundle.startswith(fit)]
    loop = asyncio.get_running_loop()
    threads = dask_worker.state.nthreads
    return {bundle: await loop.run_in_executor(None, ask_bundle, bundle, nth, [ask], threads) for bundle in bundles}


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
        self.losses = 0


class Rounds:
    """Asks all parts of a fit, wherever they are."""

    def __init__(
        self,
        client: Any,
        fit: str,
        parts: list[Any],
        firsts: list[int],
        pieces: list[list[Cut]],
        opening: bytes,
        known: Known,
    ) -> None:
        self.client = client
        self.fit = fit
        self.parts = parts
        self.firsts = firsts
        self.pieces = pieces
        self.opening = opening
        self.known = known
        self.history: list[bytes] = []
        self.bundles: list[Bundle] = []
        self.moves = 0
        self.largest = len(opening)

    def open(self, futures: dict[int, Any]) -> list[bytes]:
        """Opens every part where it lies; their first answers in order."""
        self.client.wait_for_workers(1)
        holders = self.client.who_has(list(futures.values()))
        alive = self._alive()
        at: dict[str, list[int]] = {}
        for number, future in futures.items():
            found = [worker for worker in holders.get(future.key, ()) if worker in alive]
            # Nobody has it any more: it is made again by whoever has least to do.
            worker = min(found or alive, key=lambda one: len(at.get(one, ())))
            at.setdefault(worker, []).append(number)
        first: dict[int, list[bytes]] = {}
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
        answers = [answer for number in range(len(self.parts)) for answer in first[number]]
        self.largest = max(self.largest, *map(len, answers))
        return answers

    def ask(self, ask: bytes) -> list[bytes]:
        """Asks every part, and waits for the answers: one of each bundle."""
        nth = len(self.history)
        self.history.append(ask)
        workers = sorted({bundle.worker for bundle in self.bundles})
        said = self.client.run(answer_all, self.fit, nth, ask, workers=workers, on_error="return")
        answers = [self._answer(bundle, said.get(bundle.worker)) for bundle in self.bundles]
        self.largest = max(self.largest, len(ask), *map(len, answers))
        return answers

    def close(self) -> None:
        """Lets go of what workers hold for this fit."""
        try:
            self.client.run(forget, self.fit, on_error="ignore")
        except Exception:  # a cluster that is gone holds nothing
            pass

    def _answer(self, bundle: Bundle, said: Any) -> bytes:
        """The answer of a bundle, which is there or was lost with its worker."""
        if isinstance(said, Exception) and not self._lost(said):
            raise said
        answer = said.get(bundle.name) if isinstance(said, dict) else None
        while not answer:
            # The worker is gone, or is another one than before: elsewhere, from the beginning.
            self._move(bundle)
            raws = self.client.compute([self.parts[number] for number in bundle.numbers])
            if self._result(bundle, self._open(bundle, raws)) is None:
                continue
            again = (bundle.name, 0, self.history, bundle.threads)
            answer = self._result(bundle, self._submit(bundle, "again", ask_bundle, *again))
        return bytes(answer)

    def _open(self, bundle: Bundle, raws: list[Any]) -> Any:
        firsts = [self.firsts[number] for number in bundle.numbers]
        pieces = [self.pieces[number] for number in bundle.numbers]
        given = (bundle.name, self.opening, self.known, bundle.numbers, firsts, pieces, raws)
        return self._submit(bundle, "open", open_bundle, *given)

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
            except (TimeoutError, asyncio.TimeoutError):  # two kinds before Python 3.11
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
        return isinstance(error, (OSError, TimeoutError)) or type(error).__name__ in ("KilledWorker", "CommClosedError", "FutureCancelledError", "CancelledError")

    def _alive(self) -> dict[str, int]:
        """The workers there are, and how many threads each has."""
        return dict(self.client.nthreads())

    def _move(self, bundle: Bundle) -> None:
        """To the worker with the fewest parts, unless that was in vain too often."""
        bundle.losses += 1
        if bundle.losses > LOSSES:
            raise RuntimeError(
                f"workers that were given {len(bundle.numbers)} partitions were lost {bundle.losses} times: give workers more "
                "memory, or more workers to the cluster"
            )
        self.client.wait_for_workers(1)
        alive = self._alive()
        load = dict.fromkeys(alive, 0)
        for other in self.bundles:
            if other is not bundle and other.worker in load:
                load[other.worker] += len(other.numbers)
        bundle.worker = min(load, key=lambda one: (one == bundle.worker, load[one]))
        bundle.threads = alive[bundle.worker]
