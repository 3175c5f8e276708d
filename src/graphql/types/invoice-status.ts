import type { InvoiceStatus } from '../../domain/invoice/lifecycle.ts';
import { enumOf } from '../enum-of.ts';

const STATUS_MEANING: Readonly<Record<InvoiceStatus, string>> = {
  pending: 'Created, awaiting XML normalization.',
  signing: 'UBL XML generated, XAdES signature in progress.',
  transmitted: 'The tax authority holds the signed invoice.',
  accepted: 'The tax authority accepted it; `dgiId` is set.',
  rejected: 'It was rejected; `rejectionReason` says why.',
};

export const InvoiceStatusType = enumOf(
  'InvoiceStatus',
  "Where an invoice stands in its life cycle. The names are the REST contract's.",
  STATUS_MEANING,
);
