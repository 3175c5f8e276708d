import type { SubmissionBody } from '../../scripts/authority-simulator/submission.ts';
import type { InvoiceDocument } from '../../src/storage/invoice-document.ts';
import type { LiveChaosOutcome } from './live-chaos.ts';

/** Every promise of live transmission that a run broke, a sentence each. */
export function brokenLivePromises(outcome: LiveChaosOutcome): string[] {
  const { plan, created, invoices, ledger, doubled } = outcome;
  const problems = doubled.map((each) => `the ledger holds ${each} twice`);
  const known = new Set(invoices.map(({ _id }) => _id));
  if (created.size !== plan.invoices) problems.push(`${created.size} of ${plan.invoices} creations were answered`);
  if (invoices.length !== plan.invoices) problems.push(`${invoices.length} invoices are stored`);
  for (const [key, id] of created) if (!known.has(id)) problems.push(`${key} was answered ${id}, which is lost`);
  for (const { id } of ledger) if (!known.has(id)) problems.push(`the ledger holds ${id}, which is no invoice`);
  const held = new Map(ledger.map((entry) => [entry.id, entry]));
  for (const invoice of invoices) {
    const flaws = flawsOf(invoice, held.get(invoice._id), outcome.published.get(invoice._id) ?? []);
    problems.push(...flaws.map((flaw) => `${invoice._id}: ${flaw}`));
  }
  return problems;
}

function flawsOf(invoice: InvoiceDocument, entry: SubmissionBody | undefined, published: readonly string[]): string[] {
  const flaws: string[] = [];
  const { status, dgiId, rejectionReason, xml, events } = invoice;
  const failed = rejectionReason?.startsWith('dgi_transmission_failed:') ?? false;
  const expected = failed
    ? ['invoice.signing', 'invoice.rejected']
    : ['invoice.signing', 'invoice.transmitted', `invoice.${status}`];
  if (status !== 'accepted' && status !== 'rejected') return [`it is ${status}, work ${JSON.stringify(invoice.work)}`];
  if (events.map(({ type }) => type).join() !== expected.join())
    flaws.push(`its events are ${events.map(({ type }) => type)}`);
  if ([...published].sort().join() !== [...expected].sort().join()) flaws.push(`published were ${published}`);
  if (failed && entry !== undefined) flaws.push('it has failed, and the ledger holds it');
  if (failed) return flaws;
  if (entry === undefined) return [...flaws, `it is ${status}, and the ledger lacks it`];
  if (entry.status !== status) flaws.push(`it is ${status}, and the ledger says ${entry.status}`);
  if (entry.digest !== xml?.sha256) flaws.push('the ledger holds another document');
  if (entry.dgi_id !== dgiId) flaws.push(`its dgi_id is ${dgiId}, and the ledger says ${entry.dgi_id}`);
  return flaws;
}
