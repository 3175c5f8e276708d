// Written by `npm run build`.

export const STATUSES = [
  'pending',
  'signing',
  'transmitted',
  'accepted',
  'rejected',
] as const;

export const EVENT_TYPES = [
  'invoice_signing',
  'invoice_transmitted',
  'invoice_accepted',
  'invoice_rejected',
] as const;

export const DELIVERY_STATES = [
  'pending',
  'delivered',
  'failed',
  'cancelled',
] as const;
