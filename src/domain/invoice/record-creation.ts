import type { AuditEntry, AuditedChange } from '../audit-entry.ts';
import type { Change } from '../use-case.ts';
import type { IssuedDocument } from './issuing.ts';
import type { Kind } from './kinds.ts';

/** The audit log's description of a document that a person has created. */
export const CREATED = {
  invoice: { action: 'invoice.created', description: 'A person created an invoice.' },
  credit_note: { action: 'credit_note.created', description: 'A person created a credit note.' },
} as const satisfies Readonly<Record<Kind, AuditedChange>>;

/**
 * Records who has created a document, if it was a person. Documents of secret keys are not recorded: they are many, and
 * each is its own record. A repeated request creates nothing.
 */
export async function recordCreation(
  { by, record }: Change,
  { invoice, replayed }: IssuedDocument,
  details: AuditEntry['details'] = {},
): Promise<void> {
  if (by.kind === 'person' && !replayed) await record({ subject: invoice.id, details });
}
