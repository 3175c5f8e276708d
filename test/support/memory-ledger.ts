import type { LedgerRow, SubmissionLedger } from '../../src/domain/authority/ports.ts';

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
    async findByDgiId(dgiId) {
      const isIts = ({ decision }: LedgerRow) => decision.outcome === 'accepted' && decision.dgiId === dgiId;
      return [...rows.values()].find(isIts) ?? null;
    },
    async countRefusal(submissionId) {
      const count = (refusals.get(submissionId) ?? 0) + 1;
      refusals.set(submissionId, count);
      return count;
    },
  };
}
