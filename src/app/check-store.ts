import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Config } from '../config.ts';
import { dataKeys } from '../domain/data-keys.ts';
import { openRing } from '../domain/installation/key-ring.ts';
import { createSecretBox, ENDPOINT_SECRETS } from '../domain/secret-box.ts';
import { unopenedSecrets } from '../domain/webhook/stored-secrets.ts';
import { type Checks, findInconsistencies } from '../storage/consistency.ts';
import { ensureIndexes } from '../storage/indexes.ts';
import { createKeyRingStore } from '../storage/key-ring.ts';
import { awaitsUpgrade } from '../storage/upgrades.ts';
import { createWebhookEndpointRepository } from '../storage/webhook-endpoints.ts';
import { checkMasterKey } from './data-keys.ts';
import { engineFolder, type OpenStore, openStore } from './store.ts';

/** The result of a check. */
export interface CheckReport extends Checks {
  readonly collections: number;
  readonly faults: number;
}

/**
 * Checks the store, with or without a running service. For the embedded engine: each document's checksum, and each
 * index against the documents. For a stopped engine, first also the structure of the file and the checksum of every
 * row. For any store: whether the collections agree with each other (`findInconsistencies`).
 * @param fault called for each fault that is found
 * @param say called with a text about the current step
 * @throws when the store cannot be opened; a damaged file is one reason
 */
export async function checkStore(
  config: Config,
  fault: (text: string) => void,
  say: (what: string) => void,
): Promise<CheckReport> {
  if (config.mongodbUrl === null && !existsSync(join(engineFolder(config), 'engine.sqlite')))
    throw new Error(`DATA_DIR ${resolve(config.dataDir)} has no data.`);
  const store = await openStore(config, { join: true, checkAll: true });
  let faults = 0;
  const add = (text: string): void => {
    faults++;
    fault(text);
  };
  try {
    // An upgrade may change the relations between collections that are checked below.
    if (await awaitsUpgrade(store.db))
      throw new Error(
        'This data is of an earlier version of the program. The first start of this version upgrades it: check it after that, or with that version.',
      );
    // Without indexes, the queries below would read whole collections for each invoice.
    await ensureIndexes(store.db);
    const collections = store.kind === 'server' ? 0 : await validateCollections(store, add, say);
    say('opening keys and secrets');
    await checkSecrets(config, store, add);
    say('comparing invoices, numbers, documents and webhooks');
    const checking = findInconsistencies(store.db);
    for (;;) {
      const { done, value } = await checking.next();
      if (done) return { ...value, collections, faults };
      add(value);
    }
  } finally {
    await store.close();
  }
}

/** Checks that the configured master key opens the keys of the data, and that these open the stored secrets. */
async function checkSecrets(config: Config, { db }: OpenStore, add: (text: string) => void): Promise<void> {
  const keyRing = createKeyRingStore(db);
  try {
    const ring = await keyRing.read();
    const master = await checkMasterKey(config, keyRing);
    // Nothing is sealed yet by this master key: before the first start of this version, or after its master key was
    // given up.
    if (ring === null || ring.master === null || master === null) return;
    const { data } = openRing(ring, master.bytes);
    const box = createSecretBox(
      dataKeys(() => data),
      ENDPOINT_SECRETS,
    );
    for await (const id of unopenedSecrets(createWebhookEndpointRepository(db), box))
      add(`webhook endpoint ${id}: a secret does not open with any key of the data`);
  } catch (error) {
    add((error as Error).message);
  }
}

/** Validates the collections of all databases. @returns their number */
async function validateCollections(
  { client }: OpenStore,
  add: (text: string) => void,
  say: (what: string) => void,
): Promise<number> {
  say('checking documents and indexes');
  let count = 0;
  const { databases } = await client.db('admin').admin().listDatabases({ nameOnly: true });
  for (const { name } of databases) {
    const db = client.db(name);
    for (const collection of await db.listCollections({}, { nameOnly: true }).toArray()) {
      const { valid, errors } = await db.command({ validate: collection.name, full: true });
      if (!valid) for (const error of errors as string[]) add(`${name}.${collection.name}: ${error}`);
      count++;
    }
  }
  return count;
}
