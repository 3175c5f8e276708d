import { opendir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { statusOf } from '../domain/authority/status.ts';
import { installationConditions } from '../domain/conditions/installation-conditions.ts';
import { LANE_NAMES } from '../domain/invoice/lanes.ts';
import { createListAttention } from '../domain/invoice/list-attention.ts';
import { createSurvey, type Storage } from '../domain/operations/survey.ts';
import { createOperate } from '../domain/operator-use-cases.ts';
import type { FindOperator } from '../domain/person/authenticate-session.ts';
import type { ReadLogo } from '../domain/tenant/read-logo.ts';
import { createLedgerCopy } from '../storage/authority-ledger.ts';
import { createDeliveryLedger } from '../storage/webhook-deliveries.ts';
import { createWebhookEndpointRepository } from '../storage/webhook-endpoints.ts';
import type { OperatorRouteParts } from '../transport/operator-routes.ts';
import type { Data } from './data.ts';
import type { Runtime } from './runtime.ts';
import type { Workers } from './workers.ts';

export interface OperationsParts {
  readonly data: Data;
  readonly hasAuthority: boolean;
  readonly publicUrl: string;
  readonly findOperator: FindOperator;
  readonly workers: Workers;
  /** Returns the reader of a tenant's logos. */
  readonly readLogo: (tenantId: string) => ReadLogo;
}

/** Builds the parts that the operators' pages use. */
export function composeOperations({ config }: Runtime, parts: OperationsParts): OperatorRouteParts {
  const { data, publicUrl } = parts;
  const { tenants, invoices, authorityState, members } = data;
  const now = () => new Date();
  return {
    findOperator: parts.findOperator,
    survey: createSurvey({
      lanes: LANE_NAMES,
      backlog: invoices.backlog,
      webhooks: createDeliveryLedger(data.store.db).backlog,
      transmissions: invoices.transmissionsByTenant,
      attention: createListAttention(invoices, now),
      failingEndpoints: createWebhookEndpointRepository(data.store.db).failing,
      hasAuthority: parts.hasAuthority,
      authority: async (at) => statusOf(await authorityState.read(), await members.list(), at),
      certificates: data.signersCertificates.list,
      storage: () => storageOf(config.dataDir),
      namesOf: tenants.namesOf,
      workers: parts.workers.count,
      conditions: installationConditions,
      now,
    }),
    operate: createOperate(
      { ...data, ledgerCopy: createLedgerCopy(data.store.db), publicUrl, readLogo: parts.readLogo, now },
      data.audit,
    ),
  };
}

/** Measures the files of a folder and its disk. */
async function storageOf(folder: string): Promise<Storage> {
  const { bsize, blocks, bavail } = await statfs(folder);
  return { dataBytes: await sizeOf(folder), freeBytes: bavail * bsize, diskBytes: blocks * bsize };
}

/** Maximum number of files that are measured in a folder, because the outbox may have any number of mails. */
const MOST_FILES = 10_000;

async function sizeOf(folder: string): Promise<number> {
  let [bytes, files] = [0, 0];
  for await (const entry of await opendir(folder, { recursive: true })) {
    if (!entry.isFile()) continue;
    if (++files > MOST_FILES) break;
    // The file may have been deleted meanwhile.
    bytes += await stat(join(entry.parentPath, entry.name)).then(
      ({ size }) => size,
      () => 0,
    );
  }
  return bytes;
}
