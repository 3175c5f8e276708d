import type { OpenAdministration } from '../app/administration.ts';
import { createAudit } from '../domain/audit/record-entries.ts';
import type { Audit } from '../domain/audit-entry.ts';
import type { CommandContext } from './command.ts';

/**
 * Opens the configured store, runs `work` with it and closes it. `work` must record its changes of a tenant's account
 * with `audit`.
 * @param logs whether the audit entries are also written to standard error, for the operator's log
 * @throws when the store cannot be opened, and the errors of `work`
 */
export async function administer<T>(
  { config, parts, terminal }: CommandContext,
  work: (administration: OpenAdministration & { readonly audit: Audit }) => Promise<T>,
  logs = false,
): Promise<T> {
  const { openAdministration } = await parts.administration();
  const administration = await openAdministration(config());
  try {
    const audit = createAudit(
      administration.auditLog,
      (entry) => logs && administration.log(entry),
      (failure) => terminal.remark(`The audit log does not have this change: ${String(failure)}`),
    );
    return await work({ ...administration, audit });
  } finally {
    await administration.close();
  }
}
