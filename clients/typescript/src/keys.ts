import { FatouraError } from './errors.ts';

/** By what a repeated call is known: its documents are made once for each. */
export interface Keyed {
  /** Printable characters. What is longer than 255 is sent as its SHA-256. Default: new for each call. */
  readonly idempotencyKey?: string | undefined;
}

/** The same for the creation of an invoice. */
export interface Ordered extends Keyed {
  /** Your number of the order: the same order never becomes a second invoice, also from another process. */
  readonly orderNumber?: string | undefined;
}

/** The most characters of a key that the service takes. */
const MOST = 255;

/**
 * Makes a call that is known by a key, which its errors then have.
 * @throws TypeError for a number or a key that is null or blank: it would be the same for all that have none
 */
export async function keyed<Result>(options: Ordered, call: (key: string) => Promise<Result>): Promise<Result> {
  const key = await keyOf(options);
  try {
    return await call(key);
  } catch (error) {
    throw error instanceof FatouraError ? Object.assign(error, { idempotencyKey: key }) : error;
  }
}

/**
 * The same for a credit or a replacement.
 * @throws TypeError also for the number of an order, which programs in JavaScript can pass in spite of the types
 */
export async function keyedCorrection<Result>(
  { orderNumber, ...options }: Ordered,
  call: (key: string) => Promise<Result>,
): Promise<Result> {
  // An order can be returned or corrected more than once: what is meant to be another would be answered with the first.
  if (orderNumber !== undefined)
    throw new TypeError('orderNumber is for creations: know a correction by an idempotencyKey, such as "return 88".');
  return keyed(options, call);
}

/** The key of a call, as the service takes it. A key that it has made is made of itself. */
export async function keyOf({ idempotencyKey, orderNumber }: Ordered): Promise<string> {
  const number = orderNumber === undefined ? undefined : `order ${inHeader('orderNumber', orderNumber)}`;
  const key = idempotencyKey === undefined ? undefined : inHeader('idempotencyKey', idempotencyKey);
  const stated = key ?? number ?? crypto.randomUUID();
  return stated.length <= MOST ? stated : `sha256 ${await digestOf(stated)}`;
}

/** Writes as addresses do what a header does not keep: other characters than ASCII's, and spaces at the ends. */
function inHeader(name: keyof Ordered, text: unknown): string {
  if (typeof text !== 'string' || !/[^\p{Z}\p{Cc}\p{Cf}]/u.test(text))
    throw new TypeError(`${name} is no text, or a blank one: state it, or leave it out for a key of the call's own.`);
  if (/\p{Cs}/u.test(text)) throw new TypeError(`${name} has half of a character (a lone surrogate).`);
  return text.replaceAll(/^ +| +$|[^\x20-\x7e]+/g, encodeURIComponent);
}

async function digestOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
