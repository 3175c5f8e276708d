/** By what a repeated call is known: an invoice is made once for each. */
export interface Keyed {
  /** Your number of the order: the same order never becomes a second invoice, also from another process. */
  readonly orderNumber?: string | undefined;
  /** 1 to 255 printable characters. Default: made of `orderNumber`, or new for each call. */
  readonly idempotencyKey?: string | undefined;
}

/** @throws TypeError for a number or a key that is null or blank: it would be the same for all that have none */
export function keyOf({ idempotencyKey, orderNumber }: Keyed): string {
  const number = orderNumber === undefined ? undefined : `order ${inHeader('orderNumber', orderNumber)}`;
  const key = idempotencyKey === undefined ? undefined : inHeader('idempotencyKey', idempotencyKey);
  return key ?? number ?? crypto.randomUUID();
}

/** Writes as addresses do what a header does not keep: other characters than ASCII's, and spaces at the ends. */
function inHeader(name: keyof Keyed, text: unknown): string {
  if (typeof text !== 'string' || !/[^\p{Z}\p{Cc}\p{Cf}]/u.test(text))
    throw new TypeError(`${name} is no text, or a blank one: state it, or leave it out for a key of the call's own.`);
  return text.replaceAll(/^ +| +$|[^\x20-\x7e]+/g, encodeURIComponent);
}
