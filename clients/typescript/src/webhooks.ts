import { SignatureError } from './errors.ts';
import type { InvoiceEvent } from './models.ts';

/** Headers of a request: an object as of Node or Express, or the standard `Headers`. */
export type RequestHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** Options of `verify`. */
export interface VerifyOptions {
  /** Maximum difference between the time of a delivery and this machine's, seconds, from 0. Default 300. */
  readonly toleranceSeconds?: number;
  /** The present time, UNIX milliseconds. Default: this machine's. */
  readonly now?: number;
}

const HEADER = 'service-signature';

/**
 * Checks that a delivery of a webhook comes from the service, and returns its event. Deduplicate by the event's `id`,
 * because an event may be delivered more than once.
 * @param body the raw body as it was received
 * @param secret the endpoint's secret (`whsec_…`), or several during a rotation
 * @throws SignatureError with the reason
 */
export async function verify(
  body: Uint8Array | ArrayBuffer | string,
  headers: RequestHeaders,
  secret: string | readonly (string | undefined)[] | undefined,
  { toleranceSeconds = 300, now = Date.now() }: VerifyOptions = {},
): Promise<InvoiceEvent> {
  if (typeof body !== 'string' && !(body instanceof Uint8Array) && !(body instanceof ArrayBuffer))
    throw new SignatureError(
      'The body was parsed before. The signature is of its bytes: pass the raw body (Express: express.raw({ type: "application/json" }); Fetch: await request.arrayBuffer()).',
    );
  // During a rotation, one of two environment variables is often unset or empty. A secret from a file may end with a
  // line break.
  const secrets = [secret].flat().flatMap((each) => String(each ?? '').trim() || []);
  if (secrets.length === 0 || secrets.some((each) => !each.startsWith('whsec_')))
    throw new SignatureError(
      'The secret of an endpoint begins with whsec_. It is shown once, when the endpoint is created.',
    );
  // An unset environment variable becomes NaN, with which every comparison is false.
  if (typeof toleranceSeconds !== 'number' || !(toleranceSeconds >= 0))
    throw new SignatureError(`toleranceSeconds must be a number from 0, not ${toleranceSeconds}.`);
  const header = headerOf(headers);
  if (header === null) throw new SignatureError('The header Service-Signature is missing.');
  const parts = header.split(',').map((part) => part.trim().split('=', 2) as [string, string?]);
  const time = parts.find(([name]) => name === 't')?.[1] ?? '';
  if (!/^\d{1,12}$/.test(time)) throw new SignatureError('The header Service-Signature has no time.');
  if (!(Math.abs(now / 1000 - Number(time)) <= toleranceSeconds))
    throw new SignatureError(`The delivery is of another time than this machine’s (t=${time}): is its clock right?`);
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : new Uint8Array(body);
  const signed = joined(new TextEncoder().encode(`${time}.`), bytes);
  const given = parts.flatMap(([name, hex = '']) => (name === 'v1' ? [bytesOf(hex)] : []));
  for (const each of secrets) {
    const key = await crypto.subtle.importKey('raw', new TextEncoder().encode(each), HMAC, false, ['verify']);
    for (const signature of given) {
      // Compares in constant time.
      if (signature && (await crypto.subtle.verify('HMAC', key, signature, signed))) return eventOf(bytes);
    }
  }
  throw new SignatureError(
    'The signature does not fit: the secret is of another endpoint, or the body was changed (parsed and printed again?).',
  );
}

const HMAC = { name: 'HMAC', hash: 'SHA-256' } as const;

function headerOf(headers: RequestHeaders | null | undefined): string | null {
  if (typeof headers?.get === 'function') return (headers as { get(name: string): string | null }).get(HEADER);
  const found = Object.entries(headers ?? {}).find(([name]) => name.toLowerCase() === HEADER)?.[1];
  return (typeof found === 'string' ? found : found?.[0]) ?? null;
}

function eventOf(bytes: Uint8Array): InvoiceEvent {
  try {
    const event = JSON.parse(new TextDecoder().decode(bytes)) as InvoiceEvent | null;
    if (typeof event?.id === 'string') return event;
  } catch {
    // Not JSON.
  }
  throw new SignatureError('The body is signed, but is no event.');
}

function bytesOf(hex: string): Uint8Array<ArrayBuffer> | null {
  if (!/^[0-9a-f]{64}$/i.test(hex)) return null;
  return new Uint8Array((hex.match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16)));
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}
