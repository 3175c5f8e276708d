import { domainToASCII } from 'node:url';
import { z } from 'zod';
import { expected } from './input-problems.ts';
import { MAX_ADDRESS } from './limits.ts';

/** Maximum length of the part before the @, in octets of UTF-8 (RFC 5321, 4.5.3.1). */
const MAX_LOCAL = 64;

/**
 * RFC 5322's dot-atom, extended by letters, marks and digits of other scripts (RFC 6531, 3.3). Quoted local parts are
 * valid in those RFCs, but hardly any system accepts them.
 */
const LOCAL = /^[\w!#$%&'*+/=?^`{|}~\-\p{L}\p{M}\p{Nd}]+(?:\.[\w!#$%&'*+/=?^`{|}~\-\p{L}\p{M}\p{Nd}]+)*$/u;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;
/** Characters that are not allowed in a host name, but that the conversion to ASCII would remove or decode. */
const UNFIT_DOMAIN = /[\s%/\\:?#@[\]<>^|\p{Cc}\p{Cf}]/u;

/**
 * Converts an e-mail address for SMTP: the domain to ASCII (`x@مثال.المغرب` → `x@xn--mgbh0fb.xn--mgbc0a9azcg`), the
 * local part to Unicode NFC. The result is one bare address: it cannot end a header line or name a second receiver.
 * @returns null when it is not an e-mail address
 */
export function mailAddress(address: string): string | null {
  // First: the time that normalization takes grows with the square of the length.
  if (address.length > MAX_ADDRESS) return null;
  const at = address.lastIndexOf('@');
  const [local, domain] = [address.slice(0, at).normalize('NFC'), address.slice(at + 1)];
  if (at < 1 || Buffer.byteLength(local) > MAX_LOCAL || !LOCAL.test(local) || UNFIT_DOMAIN.test(domain)) return null;
  const ascii = domainToASCII(domain);
  const labels = ascii.split('.');
  // A top-level domain of digits only would be an IP address.
  const isHostName = labels.length > 1 && labels.every((label) => LABEL.test(label)) && /\D/.test(labels.at(-1) ?? '');
  const converted = `${local}@${ascii}`;
  return isHostName && Buffer.byteLength(converted) <= MAX_ADDRESS ? converted : null;
}

/**
 * Converts an address like {@link mailAddress}, but only one that every mail server accepts.
 * @returns null also for a local part outside ASCII
 */
export function asciiAddress(address: string): string | null {
  const converted = mailAddress(address);
  return converted !== null && isAsciiAddress(converted) ? converted : null;
}

/** Whether every mail server accepts an address; others need SMTPUTF8 (RFC 6531). @param address from `mailAddress` */
export function isAsciiAddress(address: string): boolean {
  return /^[!-~]*$/.test(address);
}

const EXPECTED = 'an e-mail address, such as compta@example.com';

/** Input rule of an e-mail address. */
export function emailAddress() {
  return z
    .string({ error: expected(EXPECTED) })
    .max(MAX_ADDRESS, { error: `is too long: at most ${MAX_ADDRESS} characters`, abort: true })
    .refine((text) => mailAddress(text) !== null, {
      error: expected(EXPECTED),
    })
    .meta({ format: 'idn-email', maxLength: MAX_ADDRESS });
}
