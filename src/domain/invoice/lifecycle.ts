interface StatusRow<Status extends string> {
  readonly description: string;
  /**
   * The possible next statuses; empty if the status is final. The store applies a status update only from an allowed
   * status (`status: from`).
   */
  readonly next: readonly Status[];
}

/** The statuses of an invoice, in their order (docs/api/contract.md, "States and transitions"). */
export const STATUSES = rows({
  pending: { description: 'Created, awaiting XML normalization.', next: ['signing', 'rejected'] },
  signing: { description: 'UBL XML generated, XAdES signature in progress.', next: ['transmitted', 'rejected'] },
  transmitted: { description: 'The tax authority holds the signed invoice.', next: ['accepted', 'rejected'] },
  accepted: { description: 'The tax authority accepted it; its identifier is known.', next: [] },
  rejected: { description: 'It was rejected; the reason is known.', next: [] },
});

export type InvoiceStatus = keyof typeof STATUSES;
export const INVOICE_STATUSES = Object.keys(STATUSES) as InvoiceStatus[];

/** Whether the status is final. */
export function isFinal(status: InvoiceStatus): boolean {
  return STATUSES[status].next.length === 0;
}

export const FINAL_STATUSES = INVOICE_STATUSES.filter(isFinal);

/** The stages up to the last legal document. The first four change the status. The receipt follows the decision. */
export const LEGAL_STAGES = ['normalize', 'sign', 'transmit', 'decide', 'receipt'] as const;
/** The stages of an invoice that has all of its legal documents. */
export const LATER_STAGES = ['render', 'email'] as const;
/** The pipeline's stages, in order. */
export const STAGES = [...LEGAL_STAGES, ...LATER_STAGES] as const;
export type Stage = (typeof STAGES)[number];

/** Checks at compile time that every entry of `next` is a status of the table. */
function rows<Status extends string>(table: Readonly<Record<Status, StatusRow<NoInfer<Status>>>>) {
  return table;
}
