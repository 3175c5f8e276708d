import type { Problem } from '../authority/ports.ts';
import { type EventType, eventOfStatus, statusOfEvent } from '../event.ts';
import { newId } from '../ids.ts';
import { type AttemptLog, recorded } from './authority-attempts.ts';
import { type Invoice, type InvoiceEvent, NEW_WORK } from './invoice.ts';
import { type InvoiceStatus, STATUSES, type Stage } from './lifecycle.ts';
import { boundedProblems } from './problems.ts';
import type { InvoiceChange } from './repository.ts';

/** Makes the part of an update that changes the status and adds its event. */
export function transition(
  invoice: Invoice,
  status: Exclude<InvoiceStatus, 'pending'>,
  facts: { dgiId?: string; rejectionReason?: string } = {},
): Pick<InvoiceChange, 'status' | 'events'> {
  if (!STATUSES[invoice.status].next.includes(status))
    throw new Error(`no transition from ${invoice.status} to ${status}`);
  return { status, ...withEvent(invoice, eventOfStatus(invoice.kind, status), facts) };
}

/**
 * Makes the part of an update that adds an event. An invoice has at most one event of each type, so a stage that runs
 * again does not add it twice.
 * @public for stages that emit another event (CONTRIBUTING.md, "An event type")
 */
export function withEvent(
  invoice: Invoice,
  type: EventType,
  facts: { dgiId?: string; rejectionReason?: string } = {},
): Pick<InvoiceChange, 'events'> {
  if (invoice.events.some((event) => event.type === type)) return {};
  const event: InvoiceEvent = {
    id: newId('evt'),
    sequence: invoice.events.length + 1,
    type,
    status: statusOfEvent(type) ?? invoice.status,
    dgiId: facts.dgiId ?? invoice.dgiId,
    rejectionReason: facts.rejectionReason ?? invoice.rejectionReason,
    at: new Date(),
  };
  return { events: [event] };
}

/** Returns the invoice after a status change, as input for the next change of the same update. */
export function after(invoice: Invoice, { status, events = [] }: Pick<InvoiceChange, 'status' | 'events'>): Invoice {
  return { ...invoice, status: status ?? invoice.status, events: [...invoice.events, ...events] };
}

/** Makes the update that rejects an invoice and ends its processing. */
export function rejection(invoice: Invoice, reason: string): InvoiceChange {
  return { ...transition(invoice, 'rejected', { rejectionReason: reason }), rejectionReason: reason, work: null };
}

/** Makes the next stage's work, which runs under the same claim. */
export function next(stage: Stage): InvoiceChange['work'] {
  return { stage, ...NEW_WORK, in: 0, keep: true };
}

/** Makes the part of an update that adds the calls of a log to the invoice's record. */
export function recordOf(invoice: Invoice, { made }: AttemptLog): Pick<InvoiceChange, 'authorityAttempts'> {
  return made.length === 0 ? {} : { authorityAttempts: recorded(invoice.authorityAttempts, made) };
}

/** Makes the part of an update that adds the authority's warnings; empty if there are none. */
export function warningsOf(warnings: readonly Problem[]): Pick<InvoiceChange, 'authorityWarnings'> {
  return warnings.length === 0 ? {} : { authorityWarnings: boundedProblems(warnings) };
}
