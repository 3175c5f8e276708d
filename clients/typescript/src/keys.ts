import { FatouraError } from './errors.ts';

/** Options that identify a call. Repeated calls with the same key make their documents once. */
export interface Keyed {
  /** Printable characters. A key longer than 255 is sent as its SHA-256. Default: a new key for each call. */
  readonly idempotencyKey?: string | undefined;
}

/** Options that identify the creation of an invoice. */
export interface Ordered extends Keyed {
  /** Your number of the order. The same order never becomes a second invoice, also if another process sends it. */
  readonly orderNumber?: string | undefined;
}

/** Maximum length of a key that the service accepts, characters. */
const MOST = 255;

/**
 * Makes a call with a key, and adds the key to its errors.
 * @throws TypeError for a number or a key that is null or blank, because different calls would share it
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
 * Makes a credit or a replacement with a key, and adds the key to its errors.
 * @throws TypeError also for an order number, which JavaScript can pass in spite of the types
 */
export async function keyedCorrection<Result>(
  { orderNumber, ...options }: Ordered,
  call: (key: string) => Promise<Result>,
): Promise<Result> {
  // One order may be returned or corrected several times. A second correction would get the answer to the first.
  if (orderNumber !== undefined)
    throw new TypeError('orderNumber is for creations: know a correction by an idempotencyKey, such as "return 88".');
  return keyed(options, call);
}

/** Returns the key of a call in the form that the service accepts. Converting a converted key does not change it. */
export async function keyOf({ idempotencyKey, orderNumber }: Ordered): Promise<string> {
  const number = orderNumber === undefined ? undefined : `order ${inHeader('orderNumber', orderNumber)}`;
  const key = idempotencyKey === undefined ? undefined : inHeader('idempotencyKey', idempotencyKey);
  const stated = key ?? number ?? crypto.randomUUID();
  return stated.length <= MOST ? stated : `sha256 ${await digestOf(stated)}`;
}

/** Percent-encodes what a header would change: characters beyond ASCII, and spaces at the ends. */
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
