import type { LedgerPlace, LedgerRow, SubmissionLedger } from '../../src/domain/authority/ports.ts';

/** The mock authority's ledger, in memory. */
export function createMemoryLedger(): SubmissionLedger {
  const rows = new Map<string, LedgerRow>();
  const refusals = new Map<string, number>();
  return {
    async record(row) {
      const kept = rows.get(row.submissionId) ?? row;
      rows.set(row.submissionId, kept);
      return kept;
    },
    find: async (submissionId) => rows.get(submissionId) ?? null,
    async decided(after, until, limit) {
      return [...rows.values()]
        .filter((row) => row.decisionAt <= until && (after === null || isBehind(row, after)))
        .sort((one, other) => (isBehind(one, other) ? 1 : -1))
        .slice(0, limit);
    },
    async latest(until) {
      const [last] = [...rows.values()]
        .filter(({ decisionAt }) => decisionAt <= until)
        .sort((one, other) => (isBehind(one, other) ? -1 : 1));
      return last ?? null;
    },
    async countRefusal(submissionId) {
      const count = (refusals.get(submissionId) ?? 0) + 1;
      refusals.set(submissionId, count);
      return count;
    },
  };
}

/** Whether a row was decided after a place. Rows with the same time are ordered by id. */
function isBehind(row: LedgerRow, place: LedgerPlace): boolean {
  const apart = row.decisionAt.getTime() - place.decisionAt.getTime();
  return apart > 0 || (apart === 0 && row.submissionId > place.submissionId);
}
