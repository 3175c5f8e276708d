import type { X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { createSmtp } from '../adapters/email/smtp.ts';
import { openFilesLimit } from '../adapters/open-files.ts';
import { createPdfRenderer, type RendererDiagnosis } from '../adapters/pdf/pdf-renderer.ts';
import { openSigningKeys } from '../adapters/signing-key/signing-keys.ts';
import type { Config } from '../config.ts';
import type { Capabilities } from '../domain/authority/ports.ts';
import type { Condition } from '../domain/conditions/condition.ts';
import type { TimeZoneData } from '../domain/morocco/compare-offsets.ts';
import { createKeyRingStore } from '../storage/key-ring.ts';
import { openAdministration } from './administration.ts';
import { type LiveCertificate, openCommandAuthority } from './authority.ts';
import { checkMasterKey } from './data-keys.ts';
import { readInstallationConditions } from './installation-conditions.ts';
import { findLiveNeeds, type LiveNeed, meansOf } from './live-needs.ts';
import { openStore } from './store.ts';
import { NODE_TIME_ZONE } from './time-zone-data.ts';

export type { LiveNeed, RendererDiagnosis };

/**
 * Checks that the configured master key is the key that seals the stored data.
 * @throws when it is not; the message says what to do
 */
export async function diagnoseMasterKey(config: Config): Promise<void> {
  const store = await openStore(config, { join: true });
  try {
    await checkMasterKey(config, createKeyRingStore(store.db));
  } finally {
    await store.close();
  }
}

/**
 * Returns the platform's signing certificate. If no key is configured and none exists, generates the test identity.
 * @throws when the key cannot be used; the message says why
 */
export async function signingCertificate(config: Config): Promise<X509Certificate> {
  return (await openSigningKeys(config.signing, config.dataDir)).platform.certificateChain[0];
}

/**
 * Returns what the stored data's live invoices and live keys need but the settings lack.
 * @throws when the store cannot be opened
 */
export async function diagnoseLive(config: Config): Promise<LiveNeed[]> {
  const means = await meansOf(config);
  const administration = await openAdministration(config);
  try {
    return await findLiveNeeds(means, administration);
  } finally {
    await administration.close();
  }
}

/**
 * Returns what is wrong with the installation, as `/ops` shows it.
 * @throws when the store cannot be opened
 */
export function diagnoseConditions(config: Config): Promise<Condition[]> {
  return readInstallationConditions(config, new Date());
}

/** Returns the time zone data with which the service's own offsets of Morocco are compared. */
export async function timeZoneData(): Promise<TimeZoneData> {
  return NODE_TIME_ZONE;
}

/** Returns how many files the system lets a process of this user open; null if unknown. */
export async function diagnoseOpenFiles(): Promise<number | null> {
  return openFilesLimit();
}

/** Renders a page with the configured browser, in a separate process. Never throws. */
export async function diagnoseRenderer({ chromiumPath, dataDir }: Config): Promise<RendererDiagnosis> {
  const renderer = createPdfRenderer({
    executablePath: chromiumPath ?? undefined,
    cacheDir: join(dataDir, 'chromium'),
  });
  try {
    return await renderer.diagnose();
  } finally {
    await renderer.close();
  }
}

export interface MailDiagnosis {
  /** `smtp://host:port`, without credentials; null if none is configured and mails are written to the outbox. */
  readonly server: string | null;
  readonly outbox: string;
  /** Why the mail server cannot be used; null if it can, or if none is configured. */
  readonly trouble: string | null;
}

const DIAGNOSIS_TIMES = { connect: 10_000, silence: 10_000, total: 20_000 };

/** Connects and logs in to the configured mail server. Never throws. */
export async function diagnoseMail({ mail, dataDir }: Config): Promise<MailDiagnosis> {
  const outbox = join(dataDir, 'outbox');
  if (mail.smtpUrl === null) return { server: null, outbox, trouble: null };
  const { protocol, host } = new URL(mail.smtpUrl);
  const smtp = createSmtp(mail.smtpUrl, DIAGNOSIS_TIMES);
  try {
    await smtp.verify();
    return { server: `${protocol}//${host}`, outbox, trouble: null };
  } catch (error) {
    return { server: `${protocol}//${host}`, outbox, trouble: (error as Error).message };
  } finally {
    smtp.close();
  }
}

export interface AuthorityDiagnosis {
  readonly url: string;
  readonly certificates: readonly LiveCertificate[];
  /** Null if the authority requires no token. `endsInMs` is null if no token was obtained. */
  readonly token: { readonly endsInMs: number | null } | null;
  /** Why the authority does not respond as it should; null if it does. */
  readonly trouble: string | null;
  readonly capabilities: Capabilities;
  /** Milliseconds by which the authority's clock is ahead; null if it did not respond. */
  readonly clockOffsetMs: number | null;
}

/**
 * Gets a token and reads the capabilities of the configured authority; nothing is submitted.
 * @returns null if none is configured
 * @throws {ConfigError} with a line for each file that cannot be used
 */
export async function diagnoseAuthority(config: Config): Promise<AuthorityDiagnosis | null> {
  const live = await openCommandAuthority(config, 'silent');
  if (live === null) return null;
  try {
    const trouble = await live.authority.probe();
    return {
      // Read after the call, which makes the server's certificate known.
      url: config.authority?.url ?? '',
      certificates: live.certificates(),
      trouble,
      capabilities: live.authority.capabilities(),
      ...live.authority.state(),
    };
  } finally {
    await live.close();
  }
}
