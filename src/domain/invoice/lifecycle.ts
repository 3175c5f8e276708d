import type { EventType } from '../event.ts';

export const INVOICE_STATUSES = ['pending', 'signing', 'transmitted', 'accepted', 'rejected'] as const;
export type InvoiceStatus = (typeof INVOICE_STATUSES)[number];

/** The pipeline's stages, in their order. The first four move the status; rendering and mailing follow acceptance and never change it. */
export const STAGES = ['normalize', 'sign', 'transmit', 'decide', 'render', 'email'] as const;
export type Stage = (typeof STAGES)[number];

/** The event of each status that is reached by processing (specification, "States and transitions"). */
export const EVENT_OF_STATUS: Readonly<Record<Exclude<InvoiceStatus, 'pending'>, EventType>> = {
  signing: 'invoice.signing',
  transmitted: 'invoice.transmitted',
  accepted: 'invoice.accepted',
  rejected: 'invoice.rejected',
};

/** Which statuses may follow which. Every status update is guarded by it in the store (`status: from`), so no other change can happen. */
export const TRANSITIONS: Readonly<Record<InvoiceStatus, readonly InvoiceStatus[]>> = {
  pending: ['signing', 'rejected'],
  signing: ['transmitted', 'rejected'],
  transmitted: ['accepted', 'rejected'],
  accepted: [],
  rejected: [],
};

/** Whether nothing more happens to the status. */
export function isFinal(status: InvoiceStatus): boolean {
  return TRANSITIONS[status].length === 0;
}
