import type { OpenAdministration } from '../app/administration.ts';
import { createAudit } from '../domain/audit/record-entries.ts';
import type { Audit } from '../domain/audit-entry.ts';
import { localAddress } from '../domain/local-address.ts';
import { createOperate, type Operate } from '../domain/operator-use-cases.ts';
import { parseLogo } from '../domain/tenant/logo.ts';
import type { CommandContext } from './command.ts';

/** What a command administers with. */
interface Means extends OpenAdministration {
  /** What operators do. It records its changes. */
  readonly operate: Operate;
  /** Records other changes of a tenant's account or of the installation. */
  readonly audit: Audit;
}

/**
 * Opens the configured store, runs `work` with it and closes it. `work` must record its changes.
 * @param logs whether the audit entries are also written to standard error, for the operator's log
 * @throws when the store cannot be opened, and the errors of `work`
 */
export async function administer<T>(
  { config, parts, terminal }: CommandContext,
  work: (means: Means) => Promise<T>,
  logs = false,
): Promise<T> {
  const { openAdministration } = await parts.administration();
  const settings = config();
  const administration = await openAdministration(settings);
  try {
    const audit = createAudit(
      administration.auditLog,
      (entry) => logs && administration.log(entry),
      (failure) => terminal.remark(`The audit log does not have this change: ${String(failure)}`),
    );
    const needs = {
      ...administration,
      publicUrl: settings.publicUrl ?? localAddress(settings.host, settings.port),
      readLogo: () => parseLogo,
      now: () => new Date(),
    };
    return await work({ ...administration, audit, operate: createOperate(needs, audit) });
  } finally {
    await administration.close();
  }
}
