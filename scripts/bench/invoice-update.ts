import type { UpdateFilter } from 'mongodb';
import { eventOfStatus } from '../../src/domain/event.ts';
import { newId } from '../../src/domain/ids.ts';
import type { InvoiceStatus } from '../../src/domain/invoice/lifecycle.ts';
import type { InvoiceDocument } from '../../src/storage/invoice-document.ts';

/**
 * Makes the update of a stored invoice that changes its status and records the event. Unlike the service's, it checks
 * and ends no lease.
 * @param earlier number of the invoice's events so far
 */
export function transition(
  earlier: number,
  status: Exclude<InvoiceStatus, 'pending'>,
  fields: Partial<InvoiceDocument> = {},
): UpdateFilter<InvoiceDocument> {
  const at = new Date();
  const event = {
    id: newId('evt'),
    sequence: earlier + 1,
    type: eventOfStatus('invoice', status),
    status,
    dgiId: fields.dgiId ?? null,
    rejectionReason: null,
    at,
  };
  return { $set: { ...fields, status, updatedAt: at }, $push: { events: event } } as UpdateFilter<InvoiceDocument>;
}
