import { newId } from '../ids.ts';
import { type AttemptLog, recorded } from './authority-attempts.ts';
import type { Invoice, InvoiceEvent } from './invoice.ts';
import { EVENT_OF_STATUS, type InvoiceStatus, type Stage, TRANSITIONS } from './lifecycle.ts';
import type { InvoiceChange } from './repository.ts';

/** A status change with the event that tells of it. */
export function transition(
  invoice: Invoice,
  status: Exclude<InvoiceStatus, 'pending'>,
  facts: { dgiId?: string; rejectionReason?: string } = {},
): { status: InvoiceStatus; event: InvoiceEvent } {
  if (!TRANSITIONS[invoice.status].includes(status))
    throw new Error(`no transition from ${invoice.status} to ${status}`);
  return {
    status,
    event: {
      id: newId('evt'),
      sequence: invoice.events.length + 1,
      type: EVENT_OF_STATUS[status],
      status,
      dgiId: facts.dgiId ?? null,
      rejectionReason: facts.rejectionReason ?? null,
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
