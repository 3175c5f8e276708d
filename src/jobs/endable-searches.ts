import type { MongoBackend } from '@agendajs/mongo-backend';

/**
 * Makes Agenda's searches for jobs stoppable: after the stop no search begins, and a job found by a search in progress
 * is unlocked. Agenda itself would keep that job, and neither waits for an unlocking nor catches its error.
 * @param onError receives the error of an unlocking, after which the lock of the job expires. It must not throw
 */
export function endableSearches(repository: MongoBackend['repository'], onError: (error: unknown) => void) {
  let isOver = false;
  const underWay = new Set<Promise<unknown>>();
  function watched<Result>(call: Promise<Result>): Promise<Result> {
    underWay.add(call);
    const end = () => underWay.delete(call);
    call.then(end, end);
    return call;
  }
  const search = repository.getNextJobToRun.bind(repository);
  const unlock = repository.unlockJob.bind(repository);
  // If the unlocking fails, the lock of the job expires.
  repository.unlockJob = (job) => watched(unlock(job).catch(onError));
  repository.getNextJobToRun = (...what) =>
    watched(
      (async () => {
        const job = isOver ? undefined : await search(...what);
        if (!job || !isOver) return job;
        await repository.unlockJob(job);
        return undefined;
      })(),
    );
  return {
    /** Begins no more searches; resolves when none is in progress. Never rejects. */
    async end(): Promise<void> {
      isOver = true;
      while (underWay.size > 0) await Promise.allSettled(underWay);
    },
  };
}
