import type { Logger } from 'pino';
import { certificateFindings } from '../adapters/signing-key/certificate-findings.ts';
import { openSigningKeys } from '../adapters/signing-key/signing-keys.ts';
import { createDocumentSigner } from '../adapters/xades/document-signer.ts';
import { createTimeStamper } from '../adapters/xades/time-stamp-authority.ts';
import type { Config } from '../config.ts';
import type { DocumentSigner } from '../domain/invoice/ports.ts';
import { SigningFailed, type SigningKey } from '../domain/invoice/signing-key.ts';
import type { Owner } from '../domain/tenant/tenant.ts';
import { watchCertificates } from './certificate-watch.ts';
import type { Runtime } from './runtime.ts';

/** The keys and signers of this process. */
export interface Signing {
  /** @throws {SigningFailed} for a live document if only the generated test certificate is available */
  keyOf(owner: Owner): SigningKey;
  /** Returns the XML signer for that key, in the configured form. @throws as `keyOf` */
  signerOf(owner: Owner): DocumentSigner;
  /** Every key by a name for operators: `platform`, or the tenant's id. As they are now. */
  readonly keys: ReadonlyMap<string, SigningKey>;
  /** See {@link SigningKeys.refresh}. */
  refresh(): Promise<boolean>;
}

/** Pause between two looks for changed files, milliseconds. */
const LOOK_MS = 5000;

/**
 * @param onRejected see {@link openSigningKeys}
 * @throws when a key cannot be read or cannot sign; the message names the setting
 */
export async function openSigning(
  { signing, dataDir }: Pick<Config, 'signing' | 'dataDir'>,
  onRejected?: Parameters<typeof openSigningKeys>[2],
): Promise<Signing> {
  const keys = await openSigningKeys(signing, dataDir, onRejected);
  const form = {
    policy: signing.policy,
    stampTime: signing.tsaUrl === null ? null : createTimeStamper({ url: signing.tsaUrl }),
  };
  const signers = new WeakMap<SigningKey, DocumentSigner>();
  const keyOf = ({ tenantId, environment }: Owner) => {
    const key = keys.of(tenantId);
    if (environment === 'live' && key.testOnly) {
      throw new SigningFailed(
        'The generated test certificate cannot sign live documents. The operator must set SIGNING_P12 or SIGNING_PKCS11.',
        { lasting: true, fault: 'no_live_certificate' },
      );
    }
    return key;
  };
  return {
    keyOf,
    signerOf(owner) {
      const key = keyOf(owner);
      const signer = signers.get(key) ?? createDocumentSigner(key, form);
      signers.set(key, signer);
      return signer;
    },
    get keys() {
      return new Map([['platform', keys.platform], ...keys.tenants]);
    },
    refresh: keys.refresh,
  };
}

/** The signing part of a process with ROLE=api: it only serves requests and needs no keys. */
export const NO_SIGNING: Signing = {
  keyOf: () => {
    throw new SigningFailed('This process has no signing keys, because it only serves requests (ROLE=api).');
  },
  signerOf: (owner) => createDocumentSigner(NO_SIGNING.keyOf(owner)),
  keys: new Map(),
  refresh: async () => false,
};

/**
 * Opens the keys of this process; with ROLE=api there are none. A PKCS #12 file that is replaced by another is used within
 * seconds.
 * @param onKeys gets the keys at the start and whenever one has changed
 * @throws as {@link openSigning}
 */
export async function composeSigning(
  { config, log, closing }: Runtime,
  onKeys: (keys: Signing['keys']) => void,
): Promise<Signing> {
  if (config.role === 'api') return NO_SIGNING;
  const signing = await openSigning(config, (setting, reason) =>
    log.warn({ setting, reason }, 'a changed signing key cannot be used: the old one stays'),
  );
  onKeys(signing.keys);
  let stopWatching = watchSigning(signing, log);
  const look = async () => {
    if (!(await signing.refresh())) return;
    const signers = [...signing.keys].map(
      ([
        signer,
        {
          certificateChain: [{ fingerprint256 }],
        },
      ]) => [signer, fingerprint256],
    );
    log.info(Object.fromEntries(signers), 'a changed signing key is used');
    onKeys(signing.keys);
    // What there is to say of the new certificate is said now.
    stopWatching();
    stopWatching = watchSigning(signing, log);
  };
  const timer = setInterval(() => void look(), LOOK_MS).unref();
  closing.add(() => {
    clearInterval(timer);
    stopWatching();
  });
  return signing;
}

/** Watches every signing certificate; see {@link watchCertificates}. @returns a function that stops it */
export function watchSigning(signing: Pick<Signing, 'keys'>, log: Logger): () => void {
  return watchCertificates(
    (now) =>
      [...signing.keys].map(([signer, key]) => ({ fields: { signer }, findings: certificateFindings(key, now) })),
    log,
  );
}
