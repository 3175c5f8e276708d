import { KEY_OPERATIONS } from './api-key/operate-keys.ts';
import { installationLog } from './audit/browse-audit.ts';
import { type Audit, type AuditFacts, type AuditPlace, entryByOperator, type Operator } from './audit-entry.ts';
import { AUTHORITY_OPERATIONS } from './authority/operate-authority.ts';
import { INVOICE_OPERATIONS } from './invoice/operate-invoices.ts';
import { ACCOUNT_OPERATIONS } from './person/operate-accounts.ts';
import { TENANT_OPERATIONS } from './tenant/operate-tenants.ts';
import type { CallableBy, NeedsOf, OperatorUseCase } from './use-case.ts';

/** What operators do, on their pages and by commands. */
export const OPERATOR_USE_CASES = {
  installationLog,
  ...TENANT_OPERATIONS,
  ...KEY_OPERATIONS,
  ...ACCOUNT_OPERATIONS,
  ...INVOICE_OPERATIONS,
  ...AUTHORITY_OPERATIONS,
} as const satisfies Readonly<Record<string, OperatorUseCase>>;

/** The use cases of operators as functions of who calls, null for a command on the machine, and the input. */
export type Operate = CallableBy<Operator | null, typeof OPERATOR_USE_CASES>;

/** Makes the functions of {@link OPERATOR_USE_CASES}. @param audit records the changes */
export function createOperate(needs: NeedsOf<typeof OPERATOR_USE_CASES>, audit: Audit): Operate {
  const functions = Object.entries<OperatorUseCase>(OPERATOR_USE_CASES).map(([name, { run, audit: action }]) => {
    const called = run as (needs: unknown, call: unknown, ...args: unknown[]) => unknown;
    return [
      name,
      (by: Operator | null, ...args: unknown[]) => {
        const record =
          action &&
          (({ tenantId, environment = null }: AuditPlace, facts: AuditFacts) =>
            audit(entryByOperator(tenantId, environment, action, facts, by)));
        return called(needs, { by, record }, ...args);
      },
    ];
  });
  return Object.fromEntries(functions) as Operate;
}
