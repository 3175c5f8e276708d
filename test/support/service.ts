import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'vitest';
import { createContentExaminer } from '../../src/adapters/authority/mock/content-examiner.ts';
import { createLogoReader } from '../../src/adapters/logo/logo-reader.ts';
import { createPasswordJudge } from '../../src/adapters/password/password-judge.ts';
import { createInvoiceWriter } from '../../src/adapters/ubl/invoice-writer.ts';
import { createDocumentVerifier } from '../../src/adapters/xades/document-verifier.ts';
import { type App, type AppParts, startApp } from '../../src/app/app.ts';
import { EXAMINATION_THREAD } from '../../src/app/examination-thread.ts';
import type { OpenStore } from '../../src/app/store.ts';
import { readConfig } from '../../src/config.ts';
import type { KeyKind } from '../../src/domain/api-key/key-kinds.ts';
import { createManageKeys } from '../../src/domain/api-key/manage-keys.ts';
import { newId } from '../../src/domain/ids.ts';
import type { PasswordJudge } from '../../src/domain/person/ports.ts';
import type { SellerProfile } from '../../src/domain/tenant/tenant.ts';
import { connect } from '../../src/storage/connect.ts';
import { HARD_WORDS } from './hard-words.ts';
import { freshDbName, startTestMongo } from './mongodb.ts';

/** A running service for one test file, on the server that `startTestMongo` chooses. */
export interface TestService {
  readonly app: App;
  readonly url: string;
  readonly dataDir: string;
  /** Makes a new tenant with test keys. */
  tenant(profile?: Partial<SellerProfile>): Promise<TestTenant>;
  /** Makes a live key of a tenant. Without an authority, the service itself would issue none. */
  liveKey(tenantId: string, kind?: KeyKind): Promise<string>;
  close(): Promise<void>;
}

export interface TestTenant {
  readonly id: string;
  readonly secretKey: string;
  readonly publishableKey: string;
}

/** The PDF of the stand-in renderer. Tests of the real one are in `test/unit/pdf`. */
export const STAND_IN_PDF = Buffer.from('%PDF-1.7 stand-in');

/** Answers {@link STAND_IN_PDF} immediately. */
export const STAND_IN_RENDERER = {
  render: async (): Promise<Uint8Array> => STAND_IN_PDF,
  draw: async (): Promise<Uint8Array> => STAND_IN_PDF,
  warm: async () => {},
  close: async () => {},
};

/** The parts that a scripted authority lacks: it makes no document that is verified. */
export const NO_PAPERS: Omit<NonNullable<AppParts['live']>, 'authority'> = {
  callbackSecret: null,
  concurrency: 16,
  papers: {
    verify: () => Promise.reject(new Error('nothing is verified')),
    trust: () => ({ trusted: false, reason: 'nothing is trusted' }),
  },
};

/** For tests that create live invoices and do not need their results. */
export const TAKES_LIVE: NonNullable<AppParts['means']> = { hasAuthority: true, signers: () => null };

/** {@link startService} with {@link TAKES_LIVE}. */
export function startTakingLive(environment: Record<string, string> = {}): Promise<TestService> {
  return startService(environment, STAND_IN_RENDERER, false, undefined, TAKES_LIVE);
}

/**
 * Starts a service with its own database. It shares the engine and the threads for documents with the other services of
 * this process; with MONGODB_URL or DATA_DIR among the settings it opens its own store.
 * @param environment settings that override those of the tests: a free port, a fresh folder, no log, very high limits
 * @param renderer draws the PDFs; default: a stand-in, null: Chromium
 * @param monitorCommands whether the store's client reports its commands
 * @param live the live authority, instead of the configured one
 * @param means the conditions of live invoices, instead of those of the settings
 */
export async function startService(
  environment: Record<string, string> = {},
  renderer: AppParts['renderer'] | null = STAND_IN_RENDERER,
  monitorCommands = false,
  live?: Partial<AppParts['live']> & Pick<NonNullable<AppParts['live']>, 'authority'>,
  means?: AppParts['means'],
): Promise<TestService> {
  const dataDir = await mkdtemp(join(tmpdir(), 'fatoura-'));
  const mongo = onServer ? await startTestMongo() : null;
  const config = readConfig({
    PORT: '0',
    DATA_DIR: dataDir,
    LOG_LEVEL: 'silent',
    RATE_LIMIT_SECRET: '1000000',
    RATE_LIMIT_PUBLISHABLE: '1000000',
    ...(mongo && {
      MONGODB_URL: withDatabase(mongo.uri, freshDbName('service')),
      MASTER_KEY: '0123456789abcdef'.repeat(4),
    }),
    ...environment,
  });
  const ownStore = onServer || environment.MONGODB_URL !== undefined || environment.DATA_DIR !== undefined;
  const store = ownStore ? null : await sharedStore(monitorCommands);
  const app = await startApp(config, {
    ...sharedThreads(),
    ...(store && { store }),
    ...(renderer && { renderer }),
    ...(live && { live: { ...NO_PAPERS, ...live } }),
    ...(means && { means }),
    monitorCommands,
  });
  if (app.url === null) throw new Error('the service has no address');
  return {
    app,
    url: app.url,
    dataDir,
    async tenant(profile = {}) {
      const id = newId('ten');
      await app.tenants.insert({ id, name: 'Test tenant', profile, createdAt: new Date() });
      const key = async (kind: KeyKind) => (await app.manageKeys.create(id, kind, 'test')).token;
      return { id, secretKey: await key('secret'), publishableKey: await key('publishable') };
    },
    async liveKey(tenantId, kind = 'secret') {
      return (await createManageKeys(app.tenants, async () => [], null).create(tenantId, kind, 'live')).token;
    },
    async close() {
      if (mongo) await app.store.db.dropDatabase();
      await app.close();
      await store?.db.dropDatabase();
      await store?.close();
      await mongo?.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Whether the tests run on a server that the service reaches by MONGODB_URL. */
const onServer = Boolean(process.env.TEST_MONGODB_URL || process.env.TEST_MONGODB);

/** Makes a database on the engine of this process. The service uses it like an engine that it started itself. */
async function sharedStore(monitorCommands: boolean): Promise<OpenStore> {
  const { uri } = await startTestMongo();
  return { ...(await connect(uri, freshDbName('service'), monitorCommands)), kind: 'own engine' };
}

/** The threads that the services of this process share, because each new thread loads and optimizes its code again. */
export const sharedThreads = lazily(() => ({
  writer: unclosed(createInvoiceWriter()),
  verifier: unclosed(createDocumentVerifier()),
  clientsVerifier: unclosed(createDocumentVerifier()),
  examiner: unclosed(createContentExaminer(EXAMINATION_THREAD)),
  logoReader: unclosed(createLogoReader()),
  // Reading its dictionaries takes a second of CPU.
  passwords: sparing(createPasswordJudge()),
}));

function lazily<T>(make: () => T): () => T {
  let made: T | null = null;
  return () => (made ??= make());
}

/** Returns the part in a form that a closing service leaves open. */
const unclosed = <Part>(part: Part): Part => ({ ...part, close: async () => {} });

/** Returns a judge that skips the people of `signedIn`, each of whom would take 100 ms of CPU. */
const sparing = (judge: PasswordJudge): PasswordJudge => ({
  isGuessable: async (password, words) =>
    !password.startsWith(HARD_WORDS) && (await judge.isGuessable(password, words)),
});

/** Returns the URI of another database on the same server. */
export function withDatabase(uri: string, name: string): string {
  const url = new URL(uri);
  url.pathname = `/${name}`;
  return url.toString();
}

/**
 * The service that the test files of a worker process share: the fixture `service` of its hooks and tests. It starts
 * when the first file asks for it, and closes when Vitest stops the process. For files that only look at tenants of
 * their own; a file that stops or configures its service, spies on it, fills its store or counts across tenants starts
 * its own.
 */
// biome-ignore lint/correctness/noEmptyPattern: Vitest takes from the pattern which fixtures this one needs
export const withSharedService = test.extend('service', { scope: 'worker' }, async ({}, { onCleanup }) => {
  const service = await startTakingLive({ RATE_LIMIT_ADDRESS: '1000000' });
  onCleanup(() => service.close());
  return service;
});
