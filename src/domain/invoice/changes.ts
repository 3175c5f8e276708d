import { EVENT_OF_STATUS, type EventType, statusOfEvent } from '../event.ts';
import { newId } from '../ids.ts';
import { type AttemptLog, recorded } from './authority-attempts.ts';
import type { Invoice } from './invoice.ts';
import { type InvoiceStatus, STATUSES, type Stage } from './lifecycle.ts';
import type { InvoiceChange } from './repository.ts';

/** A status change with the event that tells of it. */
export function transition(
  invoice: Invoice,
  status: Exclude<InvoiceStatus, 'pending'>,
  facts: { dgiId?: string; rejectionReason?: string } = {},
): Pick<InvoiceChange, 'status' | 'event'> {
  if (!STATUSES[invoice.status].next.includes(status))
    throw new Error(`no transition from ${invoice.status} to ${status}`);
  return { status, ...withEvent(invoice, EVENT_OF_STATUS[status], facts) };
}

/**
 * The event of this type, as a part of an update. An invoice has at most one event of each type, so a stage that runs again does not
 * tell of the same thing again.
 */
export function withEvent(
  invoice: Invoice,
  type: EventType,
  facts: { dgiId?: string; rejectionReason?: string } = {},
): Pick<InvoiceChange, 'event'> {
  if (invoice.events.some((event) => event.type === type)) return {};
  return {
    event: {
      id: newId('evt'),
      sequence: invoice.events.length + 1,
      type,
      status: statusOfEvent(type) ?? invoice.status,
      dgiId: facts.dgiId ?? invoice.dgiId,
      rejectionReason: facts.rejectionReason ?? invoice.rejectionReason,
      at: new Date(),
    },
  };
}

/** The end of an invoice without acceptance. */
export function rejection(invoice: Invoice, reason: string): InvoiceChange {
  return { ...transition(invoice, 'rejected', { rejectionReason: reason }), rejectionReason: reason, work: null };
}

/** The following stage, run on under the same claim. */
export function next(stage: Stage): InvoiceChange['work'] {
  return { stage, attempts: 0, outcomeUnknown: false, in: 0, keep: true };
}

/** The invoice's record of the authority with what a log has noted: part of the update that follows. */
export function recordOf(invoice: Invoice, { made }: AttemptLog): Pick<InvoiceChange, 'authorityAttempts'> {
  return made.length === 0 ? {} : { authorityAttempts: recorded(invoice.authorityAttempts, made) };
}
