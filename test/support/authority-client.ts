import { createHash, createPrivateKey, randomUUID, sign } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Agent, type Dispatcher, request } from 'undici';
import type { SimulatorSettings } from '../../scripts/authority-simulator/simulator.ts';
import { softwareKey } from '../../src/adapters/signing-key/software-key.ts';
import { makeTestIdentity } from '../../src/adapters/signing-key/test-certificate.ts';
import { unsignedDocument, writeInvoice } from '../../src/adapters/ubl/write-invoice.ts';
import { createDocumentSigner } from '../../src/adapters/xades/document-signer.ts';
import { COMPANY } from '../../src/domain/invoice/customer-kind.ts';
import { sampleInvoice } from '../unit/ubl/sample-invoice.ts';

/** An answer of the authority as it was received. */
export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever was answered; undefined where it is not JSON
  readonly body: any;
}

/** A minimal client of the authority's protocol, independent of the adapter. It determines every byte that is sent. */
export interface AuthorityClient {
  call(method: string, path: string, options?: CallOptions): Promise<Answered>;
  /** Submits a document under an id. */
  put(id: string, document: Uint8Array, headers?: Readonly<Record<string, string>>): Promise<Answered>;
  get(path: string): Promise<Answered>;
  /** Requests a token. @param claims replace the correct ones; undefined leaves one out */
  token(claims?: Readonly<Record<string, unknown>>, form?: Readonly<Record<string, string>>): Promise<Answered>;
  /** Waits until a submission is decided, and returns it. */
  decided(id: string): Promise<Answered>;
  close(): Promise<void>;
}

export interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  /** Default: a token that the client requested; null: no token is sent. */
  readonly token?: string | null;
  /** Time limit of the call, milliseconds. */
  readonly timeout?: number;
}

export async function authorityClient(
  settings: SimulatorSettings,
  tls: Partial<Agent.Options['connect'] & object> = {},
): Promise<AuthorityClient> {
  const [ca, pfx, key] = await Promise.all([
    readFile(settings.DGI_CA, 'utf8'),
    readFile(settings.DGI_CLIENT_P12),
    readFile(settings.DGI_CLIENT_KEY),
  ]);
  const connect = { ca, pfx, passphrase: settings.DGI_CLIENT_P12_PASSPHRASE, ...tls };
  const agent = new Agent({ connect });
  const privateKey = createPrivateKey(key);
  let held: Promise<string> | null = null;

  async function send(method: string, url: string, { headers, body, timeout = 60_000 }: CallOptions) {
    const answer = await request(url, {
      method: method as Dispatcher.HttpMethod,
      headers: headers ?? {},
      body: body ?? null,
      dispatcher: agent,
      signal: AbortSignal.timeout(timeout),
    });
    const text = await answer.body.text();
    let parsed: unknown;
    try {
      parsed = JSON.parse(text);
    } catch {
      // Not JSON.
    }
    return { status: answer.statusCode, headers: answer.headers as Record<string, string>, text, body: parsed };
  }

  function assertion(claims: Readonly<Record<string, unknown>>): string {
    const now = Math.floor(Date.now() / 1000);
    const { DGI_CLIENT_ID: id, DGI_TOKEN_URL: aud } = settings;
    const isRsa = privateKey.asymmetricKeyType === 'rsa';
    const all = { iss: id, sub: id, aud, iat: now, exp: now + 60, jti: randomUUID(), ...claims };
    const parts = [{ alg: isRsa ? 'RS256' : 'ES256', typ: 'JWT' }, all].map((part) =>
      Buffer.from(JSON.stringify(part)).toString('base64url'),
    );
    const signed = Buffer.from(parts.join('.'));
    const signature = sign('sha256', signed, { key: privateKey, dsaEncoding: 'ieee-p1363' });
    return `${signed}.${signature.toString('base64url')}`;
  }

  const token: AuthorityClient['token'] = (claims = {}, form = {}) =>
    send('POST', settings.DGI_TOKEN_URL, {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: String(
        new URLSearchParams({
          grant_type: 'client_credentials',
          client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
          client_assertion: assertion(claims),
          ...form,
        }),
      ),
    });

  const call: AuthorityClient['call'] = async (method, path, options = {}) => {
    held ??= token().then(({ body }) => body.access_token);
    const bearer = options.token === undefined ? await held : options.token;
    const headers = { ...(bearer !== null && { authorization: `Bearer ${bearer}` }), ...options.headers };
    return send(method, `${settings.DGI_URL}${path}`, { ...options, headers });
  };
  const get = (path: string) => call('GET', path);
  return {
    call,
    get,
    token,
    put: (id, document, headers = {}) =>
      call('PUT', `/v1/submissions/${id}`, {
        headers: { 'content-type': 'application/xml', 'content-digest': contentDigest(document), ...headers },
        body: document,
      }),
    async decided(id) {
      for (;;) {
        const answer = await get(`/v1/submissions/${id}`);
        if (answer.body?.decided_at !== null) return answer;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    },
    close: () => agent.destroy(),
  };
}

/** RFC 9530. */
export function contentDigest(document: Uint8Array): string {
  return `sha-256=:${createHash('sha256').update(document).digest('base64')}:`;
}

/** SHA-256 in hex, as the protocol writes it. */
export function digestOf(document: Uint8Array): string {
  return createHash('sha256').update(document).digest('hex');
}

const signer = createDocumentSigner(softwareKey(await makeTestIdentity(new Date(Date.now() - 86_400_000))));
let serial = 0;

/** Makes a signed invoice with a number of its own. @param change changes the document before it is signed */
export async function signedDocument(
  { number = `2026-${String(++serial).padStart(6, '0')}`, ice = '001525713000085' } = {},
  change = (xml: string) => xml,
): Promise<Buffer> {
  const customer = { ...COMPANY, ice, name: 'Client', address: null, email: null };
  const { xml, signatureAt } = writeInvoice(sampleInvoice({ number, customer }));
  return Buffer.from(await signer.sign(unsignedDocument({ xml: change(xml), signatureAt }), new Date()));
}
