import { X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { createSmtp } from '../adapters/email/smtp.ts';
import { createPdfRenderer, type RendererDiagnosis } from '../adapters/pdf/pdf-renderer.ts';
import { openSigningKeys } from '../adapters/signing-key/signing-keys.ts';
import { createWebhookSender, type WebhookHttpSender } from '../adapters/webhook-http/webhook-sender.ts';
import { readTrusted, type Trust, trustOf } from '../adapters/xades/certificate-trust.ts';
import { createDocumentVerifier } from '../adapters/xades/document-verifier.ts';
import type { Config } from '../config.ts';
import { createManageKeys, type ManageKeys } from '../domain/api-key/manage-keys.ts';
import type { InstallationRepository } from '../domain/installation/first-start.ts';
import type { InvoiceRepository } from '../domain/invoice/repository.ts';
import type { TenantRepository } from '../domain/tenant/ports.ts';
import { givenUp, type ValidSignature, type Verification } from '../domain/verification/verification.ts';
import type { Store } from '../storage/connect.ts';
import { ensureIndexes } from '../storage/indexes.ts';
import { createInstallationRepository } from '../storage/installation.ts';
import { createInvoiceRepository } from '../storage/invoices.ts';
import { withKeyCache } from '../storage/key-cache.ts';
import { createTenantRepository } from '../storage/tenants.ts';
import { checkMasterKey } from './master-key.ts';
import { type OpenStore, openStore } from './store.ts';

export type { OpenStore, RendererDiagnosis, ValidSignature, Verification };

/** What is administered in a store. */
export interface Administration {
  readonly tenants: TenantRepository;
  readonly manageKeys: ManageKeys;
  readonly installation: InstallationRepository;
  readonly invoices: Pick<InvoiceRepository, 'needingAttention' | 'retryNow'>;
}

export function administrationOf({ db }: Pick<Store, 'db'>): Administration {
  const tenants = withKeyCache(createTenantRepository(db));
  // No authority is there to transmit to, so there are no live keys.
  const invoices = createInvoiceRepository(db);
  const installation = createInstallationRepository(db);
  return { tenants, manageKeys: createManageKeys(tenants, false), installation, invoices };
}

/** The store of the configuration, to be administered beside a running service or without one. */
export interface OpenAdministration extends Administration {
  readonly store: OpenStore;
  close(): Promise<void>;
}

/** @throws when the store can't be had; the message says why */
export async function openAdministration(config: Config): Promise<OpenAdministration> {
  const store = await openStore(config, { join: true });
  try {
    // The first command may come before the first start of the service.
    await ensureIndexes(store.db);
    return { ...administrationOf(store), store, close: () => store.close() };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Whether the master key of the configuration is that of the store's data. @throws when it is not; the message says what to do */
export async function diagnoseMasterKey(config: Config): Promise<void> {
  const store = await openStore(config, { join: true });
  try {
    await checkMasterKey(config, createInstallationRepository(store.db));
  } finally {
    await store.close();
  }
}

/** Checks a signed document. No configuration and no store are needed. */
export async function verifyDocument(document: Uint8Array): Promise<Verification> {
  const verifier = createDocumentVerifier();
  try {
    return await verifier.verify(document).catch(givenUp);
  } finally {
    await verifier.close();
  }
}

/**
 * Certificates that somebody trusts.
 * @param pem one or several
 * @returns says of a signature whether its signer is one of them, or its certificate was issued under one of them
 * @throws when there is none in it, or one can't be read; the message says which
 */
export function trustedSigners(pem: string): (signature: ValidSignature) => Trust {
  const anchors = readTrusted(pem);
  return ({ certificates, signingTime }) => {
    const [signer, ...others] = certificates.flatMap(readable);
    if (signer === undefined) throw new Error('the verifier gave no certificate');
    return trustOf(signer, others, anchors, signingTime);
  };
}

function readable(der: Uint8Array): X509Certificate[] {
  try {
    return [new X509Certificate(der)];
  } catch {
    return [];
  }
}

/** The certificate that documents are signed with, made now when there is none yet. @throws when it can't be had; the message says why */
export async function signingCertificate(config: Config): Promise<X509Certificate> {
  return (await openSigningKeys(config.signing, config.dataDir)).platform.certificateChain[0];
}

/** Draws a page with the browser of the configuration, in a process of its own. Never throws. */
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

/** Calls receivers as the service does, those on this machine too. */
export function localSender(): WebhookHttpSender {
  return createWebhookSender({ allowInsecure: true });
}

export interface MailDiagnosis {
  /** `smtp://host:port`, without the credential; null: there is none, mails go into the outbox. */
  readonly server: string | null;
  readonly outbox: string;
  /** Why the server can't be used; null: it can, or there is none. */
  readonly trouble: string | null;
}

const DIAGNOSIS_TIMES = { connect: 10_000, silence: 10_000, total: 20_000 };

/** Connects and logs in to the mail server of the configuration. Never throws. */
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
