import { type AuditedChange, SHARED_ACTIONS, type SharedAction } from './audit-entry.ts';
import { USE_CASES } from './use-cases.ts';

type Rows = typeof USE_CASES;
type OwnAction = {
  [Name in keyof Rows]: Rows[Name] extends { readonly audit: { readonly action: infer Action } } ? Action : never;
}[keyof Rows];

/** The name of a recorded change. */
export type AuditAction = SharedAction | OwnAction;

const OWN_CHANGES: readonly AuditedChange[] = Object.values(USE_CASES).flatMap((row) =>
  'audit' in row && typeof row.audit === 'object' ? [row.audit] : [],
);

/**
 * The recorded changes of a tenant's account, and the documents that people create (`invoice/record-creation.ts`).
 */
export const AUDIT_ACTIONS = {
  ...SHARED_ACTIONS,
  ...Object.fromEntries(OWN_CHANGES.map((change) => [change.action, change])),
} as Readonly<Record<AuditAction, Omit<AuditedChange, 'action'>>>;
