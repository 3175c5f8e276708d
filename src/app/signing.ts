import type { Logger } from 'pino';
import { certificateFindings } from '../adapters/signing-key/certificate-findings.ts';
import { type KeyReports, openSigningKeys } from '../adapters/signing-key/signing-keys.ts';
import { createDocumentSigner } from '../adapters/xades/document-signer.ts';
import { describeCertificate } from '../adapters/xades/signing-certificate.ts';
import { createTimeStamper } from '../adapters/xades/time-stamp-authority.ts';
import type { Config } from '../config.ts';
import type { DocumentSigner } from '../domain/invoice/ports.ts';
import { SigningFailed, type SigningKey } from '../domain/invoice/signing-key.ts';
import { every } from '../domain/kit/every.ts';
import type { SignersCertificate } from '../domain/tenant/ports.ts';
import type { Owner } from '../domain/tenant/tenant.ts';
import { watchCertificates } from './certificate-watch.ts';
import type { Data } from './data.ts';
import type { LiveSigners } from './live-needs.ts';
import type { CountSignature } from './pool-metrics.ts';
import type { Runtime } from './runtime.ts';

/** The keys and signers of this process. */
export interface Signing {
  /**
   * Returns the key for documents of an owner.
   * @throws {SigningFailed} for a live document if only the generated test certificate is available
   */
  keyOf(owner: Owner): SigningKey;
  /** Returns the XML signer with the owner's key, in the configured form. @throws as `keyOf` */
  signerOf(owner: Owner): DocumentSigner;
  /** Returns the tenants whose live documents can be signed at the moment. */
  liveSigners(): LiveSigners;
  /** The current keys by their names for operators: `platform`, or the tenant's id. */
  readonly keys: ReadonlyMap<string, SigningKey>;
  /** See {@link SigningKeys.refresh}. */
  refresh(): Promise<boolean>;
}

/** The name of the key that signs for tenants without a key of their own. */
const PLATFORM = 'platform';
/** Pause between two checks for changed files, milliseconds. */
const LOOK_MS = 5000;

/**
 * @param reports see {@link openSigningKeys}
 * @param count called for each signature and time stamp; default: not counted
 * @throws when a key cannot be read or cannot sign; the message names the setting
 */
export async function openSigning(
  { signing, dataDir }: Pick<Config, 'signing' | 'dataDir'>,
  reports?: KeyReports,
  count: CountSignature = () => undefined,
): Promise<Signing> {
  const keys = await openSigningKeys(signing, dataDir, reports);
  const form = {
    policy: signing.policy,
    stampTime: signing.tsaUrl === null ? null : timed('time_stamp', createTimeStamper({ url: signing.tsaUrl }), count),
  };
  const known = new WeakMap<SigningKey, { readonly key: SigningKey; readonly signer: DocumentSigner }>();
  /** Returns the key with its signature counter and its signer. Returns the same object for the same key. */
  function usable(own: SigningKey) {
    const before = known.get(own);
    if (before) return before;
    const key = counted(own, count);
    const used = { key, signer: createDocumentSigner(key, form) };
    known.set(own, used);
    return used;
  }
  function usableOf({ tenantId, environment }: Owner) {
    const key = keys.of(tenantId);
    if (environment === 'live' && key.testOnly) {
      throw new SigningFailed(
        'The generated test certificate cannot sign live documents. The operator must set SIGNING_P12, SIGNING_PKCS11, or a key of the tenant in SIGNING_TENANTS.',
        { fault: 'no_live_certificate' },
      );
    }
    return usable(key);
  }
  return {
    keyOf: (owner) => usableOf(owner).key,
    signerOf: (owner) => usableOf(owner).signer,
    liveSigners: () => (keys.platform.testOnly ? new Set([...keys.tenants].map(([tenantId]) => tenantId)) : null),
    get keys() {
      const named: [string, SigningKey][] = [[PLATFORM, keys.platform], ...keys.tenants];
      return new Map(named.map(([name, key]) => [name, usable(key).key]));
    },
    refresh: keys.refresh,
  };
}

function counted(key: SigningKey, count: CountSignature): SigningKey {
  return { ...key, sign: timed('key', (octets: Uint8Array) => key.sign(octets), count) };
}

function timed<Result>(
  by: Parameters<CountSignature>[0],
  make: (octets: Uint8Array) => Promise<Result>,
  count: CountSignature,
): (octets: Uint8Array) => Promise<Result> {
  return async (octets) => {
    const start = performance.now();
    let outcome: Parameters<CountSignature>[1] = 'failed';
    try {
      const made = await make(octets);
      outcome = 'made';
      return made;
    } finally {
      count(by, outcome, (performance.now() - start) / 1000);
    }
  };
}

/** The signing part of a process with ROLE=api, which only serves requests and needs no keys. */
const NO_SIGNING: Signing = {
  keyOf: () => {
    throw new SigningFailed('This process has no signing keys, because it only serves requests (ROLE=api).');
  },
  signerOf: (owner) => createDocumentSigner(NO_SIGNING.keyOf(owner)),
  liveSigners: () => null,
  keys: new Map(),
  refresh: async () => false,
};

export interface SigningParts {
  readonly count: CountSignature;
  /** Called with the keys at the start and whenever one has changed. */
  readonly onKeys: (keys: Signing['keys']) => void;
}

/**
 * Opens the keys of this process, watches their certificates, and stores these for the other processes. With ROLE=api
 * there are no keys. When a PKCS #12 file is replaced, the new one is used within seconds.
 * @throws as {@link openSigning}
 */
export async function composeSigning(
  { config, log, closing }: Runtime,
  data: TellParts,
  { count, onKeys }: SigningParts,
): Promise<Signing> {
  if (config.role === 'api') return NO_SIGNING;
  const signing = await openSigning(
    config,
    {
      onRejected: (setting, reason) =>
        log.warn({ setting, reason }, 'a changed signing key cannot be used: the old one stays'),
      onWarning: (setting, reason) => log.warn({ setting, reason }, 'a signing key needs attention'),
    },
    count,
  );
  onKeys(signing.keys);
  const watch = () => watchSigning(signing, log, (now) => void tell(signing, data, now));
  let stopWatching = watch();
  const look = async () => {
    if (!(await signing.refresh())) return;
    const fingerprints = [...signing.keys].map(([signer, { certificateChain }]) => [
      signer,
      certificateChain[0].fingerprint256,
    ]);
    log.info(Object.fromEntries(fingerprints), 'a changed signing key is used');
    onKeys(signing.keys);
    // Restarted, because a new watch logs its findings about the new certificate immediately.
    stopWatching();
    stopWatching = watch();
  };
  const stopLooking = every(LOOK_MS, look, (err) => log.warn({ err }, 'the signing keys could not be read again'));
  closing.add(() => {
    void stopLooking();
    stopWatching();
  });
  return signing;
}

interface TellParts extends Pick<Data, 'signersCertificates' | 'logFailure'> {
  readonly tenants: Pick<Data['tenants'], 'find'>;
}

/** Stores the certificates of these keys for other processes. A failure is logged; the next check stores them again. */
async function tell(
  { keys }: Pick<Signing, 'keys'>,
  { signersCertificates, tenants, logFailure }: TellParts,
  now: Date,
): Promise<void> {
  try {
    const certificates: SignersCertificate[] = [];
    for (const [signer, key] of keys) {
      // SIGNING_TENANTS may still name an erased tenant, about which nothing may be stored.
      if (signer !== PLATFORM && (await tenants.find(signer)) === null) continue;
      certificates.push({
        ...describeCertificate(key.certificateChain[0]),
        signer,
        testOnly: key.testOnly,
        findings: certificateFindings(key, now).map(({ text }) => text),
      });
    }
    await signersCertificates.tell(certificates, now);
  } catch (error) {
    logFailure('warn', 'the certificates could not be stored for the other processes', error);
  }
}

/**
 * Watches every signing certificate; see {@link watchCertificates}.
 * @param onLook called at each check
 * @returns a function that stops the watch
 */
export function watchSigning(
  signing: Pick<Signing, 'keys'>,
  log: Logger,
  onLook: (now: Date) => void = () => undefined,
): () => void {
  return watchCertificates((now) => {
    onLook(now);
    return [...signing.keys].map(([signer, key]) => ({ fields: { signer }, findings: certificateFindings(key, now) }));
  }, log);
}
