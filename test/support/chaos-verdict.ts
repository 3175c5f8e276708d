import type { InvoiceDocument } from '../../src/storage/invoice-document.ts';
import { type ChaosOutcome, type Creation, ORDINARY_ICE, REJECTING_ICE } from './chaos.ts';

/**
 * Returns a sentence for each promise of the pipeline that a run broke. Empty if nothing was lost, doubled or stuck.
 */
export function brokenPromises(outcome: ChaosOutcome): string[] {
  const { created, refused, invoices, submissions, complaints, exitCode } = outcome;
  const byId = new Map(invoices.map((invoice) => [invoice._id, invoice]));
  const problems = [...refused.map((answer) => `a creation was answered ${answer}`), ...complaints];
  if (exitCode !== 0) problems.push(`the last process ended with code ${exitCode}`);
  if (invoices.length !== created.size) problems.push(`${created.size} keys made ${invoices.length} invoices`);
  for (const [key, creation] of created) {
    const [id = '', ...others] = creation.ids;
    const invoice = byId.get(id);
    if (others.length > 0) problems.push(`${key} was answered with ${1 + others.length} invoices`);
    if (!invoice) problems.push(`${key} was answered 201 and its invoice is lost`);
    else problems.push(...flawsOf(invoice, creation, outcome));
  }
  const eventIds = invoices.flatMap(({ events }) => events.map(({ id }) => id));
  if (new Set(eventIds).size !== eventIds.length) problems.push('two events have the same id');
  const strangers = submissions.filter(({ _id }) => !byId.has(_id));
  if (strangers.length > 0) problems.push(`the ledger holds ${strangers.length} submissions of no invoice`);
  if (outcome.complete && outcome.jobs > 0) problems.push(`${outcome.jobs} jobs are left`);
  return [...problems, ...gapsIn(invoices)];
}

function flawsOf(invoice: InvoiceDocument, { ice }: Creation, outcome: ChaosOutcome): string[] {
  const { submissions, xmlDigests, pdfStarts, complete } = outcome;
  const flaws: string[] = [];
  const final = ice === REJECTING_ICE ? 'rejected' : 'accepted';
  const statuses = invoice.events.map(({ status }) => status).join(' ');
  const sequence = invoice.events.map((event) => event.sequence).join(' ');
  if (invoice.status !== final) flaws.push(`it is ${invoice.status}, not ${final}`);
  if (statuses !== `signing transmitted ${final}` || sequence !== '1 2 3')
    flaws.push(`its events are ${statuses} (${sequence})`);
  if (invoice.events.some(({ type, status }) => type !== `invoice.${status}`))
    flaws.push('an event is of another type');
  if (invoice.events.some(({ at }, i) => at.getTime() < (invoice.events[i - 1]?.at.getTime() ?? 0)))
    flaws.push('its events are not in order');
  const held = submissions.filter(({ _id }) => _id === invoice._id);
  if (held.length !== 1) flaws.push(`the ledger holds ${held.length} submissions of it`);
  if (!invoice.xml || xmlDigests.get(invoice._id) !== invoice.xml.sha256)
    flaws.push('its stored XML is not what it says');
  if (held.some(({ sha256 }) => sha256 !== invoice.xml?.sha256)) flaws.push('the ledger holds another document of it');
  if (complete && final === 'accepted' && pdfStarts.get(invoice._id) !== '%PDF-') flaws.push('it has no PDF');
  if (complete && final === 'accepted' && invoice.customer.email !== null && invoice.email?.status !== 'sent')
    flaws.push(`its mail is ${invoice.email?.status ?? 'not begun'}`);
  if (complete && invoice.work) flaws.push(`its work goes on: ${invoice.work.stage}`);
  return flaws.map((flaw) => `${invoice._id} (customer ${ice}): ${flaw}`);
}

/** Returns the gaps in the numbers of a run, whose invoices are of one tenant and one day: 1, 2, 3… */
function gapsIn(invoices: readonly InvoiceDocument[]): string[] {
  const serials = invoices.map(({ series }) => series?.serial ?? 0).sort((a, b) => a - b);
  return serials.every((serial, i) => serial === i + 1) ? [] : [`the legal numbers are ${serials.join(' ')}`];
}

/**
 * Returns how long each ordinary invoice that was unfinished at a kill waited in the process that finished it, from
 * when that process began to serve, in milliseconds, ascending.
 */
export function takenUpAfter({ created, invoices, readyAt }: ChaosOutcome): number[] {
  const answeredAt = new Map([...created.values()].map(({ ids, answeredAt }) => [[...ids][0], answeredAt]));
  return invoices
    .filter(({ customer }) => customer.ice === ORDINARY_ICE)
    .flatMap(({ _id, events }) => {
      const settledAt = events.at(-1)?.at.getTime() ?? Number.POSITIVE_INFINITY;
      const ready = readyAt.findLast((moment) => moment <= settledAt) ?? 0;
      return ready > (answeredAt.get(_id) ?? 0) ? [settledAt - ready] : [];
    })
    .sort((a, b) => a - b);
}
