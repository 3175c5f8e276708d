import { X509Certificate } from 'node:crypto';
import { getCACertificates } from 'node:tls';
import {
  createHttpAuthority,
  type HttpAuthority,
  type HttpAuthorityParts,
} from '../adapters/authority/http/authority-http.ts';
import { CredentialProblems, type CredentialStore, openCredentials } from '../adapters/authority/http/credentials.ts';
import { createReceiptReader, type PaperParts } from '../adapters/authority/receipt-reader.ts';
import { expiryFinding } from '../adapters/signing-key/certificate-findings.ts';
import { loadClientPkcs12 } from '../adapters/signing-key/pkcs12.ts';
import { type Config, ConfigError } from '../config.ts';
import type { Tracing } from '../domain/tracing.ts';
import { createLogger, errorOutput } from '../transport/logger.ts';
import { composePapers } from './authority-papers.ts';
import { type CertificateLook, watchCertificates } from './certificate-watch.ts';
import type { Documents } from './documents.ts';
import type { Metrics } from './metrics.ts';
import type { Runtime } from './runtime.ts';

/** The connection to the live authority. */
export interface LiveAuthority {
  readonly authority: HttpAuthority;
  /** Maximum number of submissions in flight, of all processes together. The authority's own limit applies too. */
  readonly concurrency: number;
  /** `whsec_…`; null if callbacks are not accepted. */
  readonly callbackSecret: string | null;
  /** Verifies receipts and cleared documents: their signer must chain to the authority's current roots. */
  readonly papers: PaperParts;
  /**
   * Returns this service's client certificate, those of DGI_CA, and those that the authority's servers last presented.
   */
  certificates(): LiveCertificate[];
  close(): Promise<void>;
}

/**
 * `client`: presented to the authority. `ca`: from DGI_CA. `server`: presented by the authority or its token endpoint.
 */
export interface LiveCertificate {
  readonly use: 'client' | 'ca' | 'server';
  readonly certificate: X509Certificate;
}

type AuthorityParts = Pick<HttpAuthorityParts, 'log' | 'observe' | 'tracing'> & {
  readonly verify: PaperParts['verify'];
};

/**
 * Opens the connection to the configured authority. Nothing is sent before the first call.
 * @returns null if none is configured
 * @throws {ConfigError} with a line for each file that cannot be used
 */
export async function openAuthority(
  { authority: settings }: Pick<Config, 'authority'>,
  { verify, ...parts }: AuthorityParts,
): Promise<LiveAuthority | null> {
  if (settings === null) return null;
  const { url, ca, clientP12, token, concurrency, callbackSecret } = settings;
  const credentials = await openCredentials(
    { ca, clientP12, clientKey: token?.keyFile ?? null },
    { readP12: loadClientPkcs12, log: parts.log },
  ).catch((error: unknown) => {
    throw error instanceof CredentialProblems ? new ConfigError(error.message) : error;
  });
  const papers = composePapers({ verify }, () => anchorsOf(credentials));
  const authority = createHttpAuthority(
    { url, token: token && { url: token.url, clientId: token.clientId }, concurrency },
    { ...parts, credentials, readReceipt: createReceiptReader(papers) },
  );
  return {
    authority,
    concurrency,
    callbackSecret,
    papers,
    certificates() {
      const { tls, anchors } = credentials.latest();
      const client = tls.identity?.certificateChain.slice(0, 1) ?? [];
      return [
        ...client.map((certificate) => ({ use: 'client', certificate }) as const),
        ...(anchors ?? []).map((certificate) => ({ use: 'ca', certificate }) as const),
        ...authority.serverCertificates().map((certificate) => ({ use: 'server', certificate }) as const),
      ];
    },
    close: () => authority.close(),
  };
}

/**
 * Opens the live authority of a process, with its metrics and the watch of its certificates; null if none is
 * configured. The start does not wait for the authority to respond.
 * @throws as {@link openAuthority}
 */
export async function composeAuthority(
  { config, log, closing }: Runtime,
  { verifier }: Pick<Documents, 'verifier'>,
  metrics: Pick<Metrics, 'authority'>,
  tracing: Tracing,
): Promise<LiveAuthority | null> {
  let measure: NonNullable<AuthorityParts['observe']> = () => undefined;
  const observe: typeof measure = (...call) => measure(...call);
  const live = await openAuthority(config, { log, observe, tracing, verify: verifier.verify });
  if (live === null) return null;
  measure = metrics.authority(live);
  closing.add(() => live.close());
  closing.add(watchCertificates((now) => live.certificates().flatMap((each) => lookAt(each, now)), log));
  // Probed early, so that the first submission does not wait for the capabilities. Never rejects.
  void live.authority.probe();
  return live;
}

/**
 * Opens the live authority for a command; null if none is configured. It neither verifies receipts nor counts calls,
 * and logs to standard error.
 * @param level the lowest level that is logged
 * @throws as {@link openAuthority}
 */
export function openCommandAuthority(config: Config, level: 'warn' | 'silent' = 'warn'): Promise<LiveAuthority | null> {
  const log = createLogger(level, errorOutput());
  return openAuthority(config, { log, verify: () => Promise.reject(new Error('a command verifies no receipt')) });
}

const NAMES = {
  client: 'The certificate of DGI_CLIENT_P12',
  ca: 'A certificate of DGI_CA',
  server: "The certificate of the authority's server",
} as const;

function lookAt({ use, certificate }: LiveCertificate, now: Date): CertificateLook[] {
  const finding = expiryFinding(NAMES[use], certificate, now);
  if (finding === null) return [];
  const fields = { authority: use, subject: certificate.subject.replaceAll('\n', ', ') };
  // Only a warning for roots, because the file holds old and new ones while they are exchanged, and for server
  // certificates, because the authority renews its own.
  return [{ fields, findings: [use === 'client' ? finding : { ...finding, level: 'warn' }] }];
}

let systemRoots: readonly X509Certificate[] | null = null;

function anchorsOf(credentials: CredentialStore): readonly X509Certificate[] {
  const { anchors } = credentials.latest();
  if (anchors) return anchors;
  systemRoots ??= [...new Set([...getCACertificates('default'), ...getCACertificates('system')])].map(
    (pem) => new X509Certificate(pem),
  );
  return systemRoots;
}
