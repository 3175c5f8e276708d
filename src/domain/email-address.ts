import { domainToASCII } from 'node:url';
import { z } from 'zod';
import { expected } from './input-problems.ts';

/** RFC 5321, 4.5.3.1: octets, of UTF-8 where they are not ASCII (RFC 6531, 3.3). */
const MAX_LOCAL = 64;
const MAX_ADDRESS = 254;

/**
 * RFC 5322's dot-atom with the letters, marks and digits of other scripts (RFC 6531, 3.3): quoted local parts are allowed there and taken
 * by hardly any system.
 */
const LOCAL = /^[\w!#$%&'*+/=?^`{|}~\-\p{L}\p{M}\p{Nd}]+(?:\.[\w!#$%&'*+/=?^`{|}~\-\p{L}\p{M}\p{Nd}]+)*$/u;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;
/** What no host name holds, though the conversion to ASCII would drop or decode it. */
const UNFIT_DOMAIN = /[\s%/\\:?#@[\]<>^|\p{Cc}\p{Cf}]/u;

/**
 * An e-mail address as SMTP carries it: the domain in ASCII (`x@مثال.المغرب` → `x@xn--mgbh0fb.xn--mgbc0a9azcg`), the local part in
 * Unicode's form NFC. One address, without a name or brackets: nothing in it can end a header line or name a second receiver.
 * @returns null when it is none
 */
export function mailAddress(address: string): string | null {
  const at = address.lastIndexOf('@');
  const [local, domain] = [address.slice(0, at).normalize('NFC'), address.slice(at + 1)];
  if (at < 1 || Buffer.byteLength(local) > MAX_LOCAL || !LOCAL.test(local) || UNFIT_DOMAIN.test(domain)) return null;
  const ascii = domainToASCII(domain);
  const labels = ascii.split('.');
  // A top level of digits would be an IP address.
  const isHostName = labels.length > 1 && labels.every((label) => LABEL.test(label)) && /\D/.test(labels.at(-1) ?? '');
  const converted = `${local}@${ascii}`;
  return isHostName && Buffer.byteLength(converted) <= MAX_ADDRESS ? converted : null;
}

/** The same for an address that every mail server takes. @returns null also for one whose local part is not ASCII */
export function asciiAddress(address: string): string | null {
  const converted = mailAddress(address);
  return converted !== null && isAsciiAddress(converted) ? converted : null;
}

/** Whether every mail server takes this address; the others need SMTPUTF8 (RFC 6531). @param address as `mailAddress` gives it */
export function isAsciiAddress(address: string): boolean {
  return /^[!-~]*$/.test(address);
}

const EXPECTED = 'an e-mail address, such as compta@example.com';

/** An address that mail can be sent to. */
export function emailAddress() {
  return z
    .string({ error: expected(EXPECTED) })
    .max(MAX_ADDRESS, { error: `is too long: at most ${MAX_ADDRESS} characters` })
    .refine((text) => mailAddress(text) !== null, {
      error: expected(EXPECTED),
    })
    .meta({ format: 'idn-email', maxLength: MAX_ADDRESS });
}
