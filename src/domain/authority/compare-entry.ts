import { DAY_MS } from '../durations.ts';
import { isFinal } from '../invoice/lifecycle.ts';
import type { Decision, LedgerEntry } from './ports.ts';
import type { DifferenceKind, Finding, Transmission } from './reconciliation.ts';

/** How long a receipt may take after acceptance, milliseconds. */
export const RECEIPT_MS = DAY_MS;

/** The result of comparing one submission. */
export interface Comparison {
  readonly findings: readonly Finding[];
  /** The undecided invoice that the ledger has decided; null if there is none. */
  readonly undecided: Transmission | null;
}

/**
 * Compares an entry with our invoices.
 * @param ours the invoice that the authority holds under the entry's id, as far as we know
 * @param twin the invoice with the entry's id or digest that the authority holds under another id, as far as we know
 */
export function compareEntry(
  entry: LedgerEntry,
  ours: Transmission | undefined,
  twin: Transmission | undefined,
): Comparison {
  const difference = (kind: DifferenceKind, invoice: Transmission | undefined, mine: string | null, yours: string) => ({
    findings: [findingOf(kind, entry.submissionId, invoice, mine, yours)],
    undecided: null,
  });
  const stated = textOf(entry.decision);
  // With the decision, so that a difference that an operator has acknowledged is open again when another one is taken.
  const decidedOn = `${stated}, digest ${entry.sha256}`;
  if (!ours) {
    if (!twin) return difference('unknown_submission', undefined, null, decidedOn);
    if (twin.sha256 !== entry.sha256) return difference('other_digest', twin, twin.sha256, decidedOn);
    // A look-up by digest finds the submission, so an undecided invoice is then followed under that id.
    return {
      ...difference('held_twice', twin, `held as ${twin.submissionId}`, stated),
      undecided: isUndecided(twin) ? twin : null,
    };
  }
  if (ours.sha256 !== entry.sha256) return difference('other_digest', ours, ours.sha256, decidedOn);
  if (isUndecided(ours)) return { findings: [], undecided: ours };
  if (entry.decision.outcome === 'rejected')
    return ours.status === 'accepted'
      ? difference('rejected_by_authority', ours, `accepted as ${ours.dgiId}`, stated)
      : { findings: [], undecided: null };
  if (ours.status === 'rejected') return difference('accepted_by_authority', ours, 'rejected', stated);
  if (ours.dgiId !== entry.decision.dgiId) return difference('other_dgi_id', ours, ours.dgiId, entry.decision.dgiId);
  return { findings: [], undecided: null };
}

/**
 * Returns the differences of an invoice that do not depend on the content of an entry.
 * @param settledBefore a decision that was taken here before this time is in the ledger, or never will be
 * @param now for the age of a missing receipt
 */
export function compareInvoice(ours: Transmission, hasEntry: boolean, settledBefore: Date, now: Date): Finding[] {
  const findings: Finding[] = [];
  const stated = ours.status === 'accepted' ? `accepted as ${ours.dgiId}` : ours.status;
  if (!hasEntry && !isUndecided(ours) && ours.wasHeld && ours.changedAt <= settledBefore)
    findings.push(findingOf('not_in_ledger', ours.submissionId, ours, stated, null));
  const isLate = now.getTime() - ours.changedAt.getTime() > RECEIPT_MS;
  if (ours.status === 'accepted' && !ours.hasReceipt && isLate)
    findings.push(findingOf('receipt_missing', ours.submissionId, ours, stated, null));
  return findings;
}

function findingOf(
  kind: DifferenceKind,
  submissionId: string,
  invoice: Transmission | undefined,
  ours: string | null,
  theirs: string | null,
): Finding {
  return {
    kind,
    submissionId,
    ours,
    theirs,
    invoiceId: invoice?.invoiceId ?? null,
    tenantId: invoice?.tenantId ?? null,
  };
}

function isUndecided({ status }: Transmission): boolean {
  return !isFinal(status);
}

function textOf(decision: Decision): string {
  return decision.outcome === 'accepted' ? `accepted as ${decision.dgiId}` : 'rejected';
}
