"""Predicts in other processes and threads. test_processes.py runs this as a program of its own, which
can be ended when it hangs: ``processes.py fork model.json ...``."""

from __future__ import annotations

import multiprocessing
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import errbar
from errbar import SigmaRegressor

RANDOM = np.random.default_rng(3)
# One block of rows, a few, and more than are worth several threads in everything.
TABLES = [RANDOM.uniform(-1, 1, (rows, 2)) for rows in (40, 2_000, 30_000)]
ERROR, SIGMA = RANDOM.normal(size=70_000), RANDOM.uniform(0.5, 2, 70_000)


def predicted(model):
    """All that a fitted model says about new rows."""
    told = [model.predict(X) for X in TABLES] + [model.outside(X) for X in TABLES]
    told += [model.bias(X) for X in TABLES]
    if model.model_ == "smooth":
        told.append(model.sigma_band(TABLES[0]))
    if model.guarantee is not None:
        told += [model.guaranteed(X) for X in TABLES]
    return told


def fitted(model):
    """A new model of the same kind."""
    return [SigmaRegressor(model).fit(TABLES[0], ERROR[:40]).predict(TABLES[0])]


def scored(rows):
    """Everything that is no model."""
    e, s = ERROR[:rows], SIGMA[:rows]
    told = [errbar.crps(e, s), errbar.nlpd(e, s), errbar.pit(e, s), errbar.erf(e), errbar.erfinv(s)]
    told += [errbar.crps_gradient(e, s), errbar.accuracy_reliability_gradient(e, s)]
    told += [errbar.accuracy_reliability(e, s).value, errbar.reliability_score(e, s)]
    told += [errbar.coverage(e, s), errbar.scores(e, 0.0, s, intervals=rows < 100).crps]
    return told if rows > 100 else told + [len(errbar.report(e, 0.0, s).html)]


def one_job(job):
    work, argument = job
    # What was last begun is what hangs.
    print(work.__name__, getattr(argument, "model", argument), flush=True)
    return work(argument)


def here_and_there(there, jobs):
    """The same work here first, which starts the threads of this process, and then elsewhere, twice:
    it must come to the same."""
    here = [one_job(job) for job in jobs] * 2
    print("elsewhere:", flush=True)
    for told, wanted in zip(there(one_job, jobs * 2), here, strict=True):
        for one, other in zip(told, wanted, strict=True):
            assert np.array_equal(one, other, equal_nan=True)


def loky(work, arguments):
    from joblib import Parallel, delayed

    return Parallel(n_jobs=2, backend="loky")(delayed(work)(one) for one in arguments)


def threads(work, arguments):
    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(work, arguments))


def processes(how):
    def there(work, arguments):
        with multiprocessing.get_context(how).Pool(2) as pool:
            return pool.map(work, arguments, chunksize=1)

    return there


def during_a_fit(there):
    """The same while a thread of this process fits."""
    begun, stop = threading.Event(), threading.Event()

    def progress(share):
        begun.set()
        if stop.is_set():
            raise KeyboardInterrupt

    def fit():
        X = RANDOM.uniform(-1, 1, (5000, 2))
        try:
            SigmaRegressor("ensemble", progress=progress).fit(X, RANDOM.normal(size=5000))
        except KeyboardInterrupt:
            pass

    other = threading.Thread(target=fit)
    other.start()
    begun.wait()
    here_and_there(there, [(scored, 50), (scored, 70_000)])
    stop.set()
    other.join()


if __name__ == "__main__":
    how, models = sys.argv[1], [SigmaRegressor.load(path) for path in sys.argv[2:]]
    there = {"loky": loky, "threads": threads}.get(how) or processes(how)
    jobs = [(predicted, model) for model in models]
    jobs += [(scored, 50), (scored, 2_000), (scored, 70_000), (fitted, "trees")]
    here_and_there(there, jobs)
    if how != "spawn":  # whose processes start anew
        during_a_fit(there)
