import type { SubmissionBody } from '../../scripts/authority-simulator/submission.ts';
import type { InvoiceDocument } from '../../src/storage/invoice-document.ts';
import type { LiveChaosOutcome } from './live-chaos.ts';

/** Returns a sentence for each promise of live transmission that a run broke. */
export function brokenLivePromises(outcome: LiveChaosOutcome): string[] {
  const { orders, documents, ledger, doubled, inconsistencies } = outcome;
  const problems = [...inconsistencies, ...doubled.map((each) => `the ledger holds ${each} twice`)];
  const known = new Set(documents.map(({ _id }) => _id));
  const answered = new Set([...orders.created.keys(), ...orders.refused]);
  for (const key of orders.asked) if (!answered.has(key)) problems.push(`${key} was never answered`);
  if (documents.length !== orders.created.size)
    problems.push(`${orders.created.size} creations were answered, and ${documents.length} documents are stored`);
  for (const [key, id] of orders.created) if (!known.has(id)) problems.push(`${key} was answered ${id}, which is lost`);
  for (const { id } of ledger) if (!known.has(id)) problems.push(`the ledger holds ${id}, which is no document`);
  const held = new Map(ledger.map((entry) => [entry.id, entry]));
  for (const document of documents) {
    const flaws = flawsOfLive(document, held.get(document._id), outcome.published.get(document._id) ?? []);
    const credits = orders.credited.has(document._id) ? creditFlaws(document, documents) : [];
    problems.push(...[...flaws, ...credits].map((flaw) => `${document._id}: ${flaw}`));
  }
  return problems;
}

/**
 * The last request for an invoice asks for all that is left. So nothing may be left, unless a credit note was rejected.
 */
function creditFlaws({ _id, amount }: InvoiceDocument, documents: readonly InvoiceDocument[]): string[] {
  const credits = documents.filter(({ credit }) => credit?.original.id === _id);
  const counted = credits.filter(({ status }) => status !== 'rejected');
  const credited = counted.reduce((sum, each) => sum + each.amount, 0);
  if (credited > amount) return [`${credited} of ${amount} are credited`];
  if (credited < amount && counted.length === credits.length) return [`only ${credited} of ${amount} are credited`];
  return [];
}

/**
 * Returns the flaws of a final live document, a few words each.
 * @param entry its entry in the ledger of the authority
 */
export function flawsOfLive(
  document: InvoiceDocument,
  entry: SubmissionBody | undefined,
  published: readonly string[],
): string[] {
  const flaws: string[] = [];
  const { kind, status, dgiId, rejectionReason, xml, events } = document;
  const failed = rejectionReason?.startsWith('dgi_transmission_failed:') ?? false;
  const expected = (failed ? ['signing', 'rejected'] : ['signing', 'transmitted', status]).map(
    (each) => `${kind ?? 'invoice'}.${each}`,
  );
  if (status !== 'accepted' && status !== 'rejected') return [`it is ${status}, work ${JSON.stringify(document.work)}`];
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
