import { inflateSync } from 'node:zlib';

/** Writes a text string (ISO 32000-1, section 7.9.2.2) in hexadecimal, which needs no escapes. */
export function textString(text: string): string {
  return `<FEFF${Buffer.from(text.toWellFormed(), 'utf16le').swap16().toString('hex').toUpperCase()}>`;
}

/** Writes a name object. Escapes everything except letters and digits (section 7.3.5). */
export function nameObject(name: string): string {
  const octets = Buffer.from(name);
  return `/${[...octets].map((octet) => (/[a-z0-9]/i.test(String.fromCharCode(octet)) ? String.fromCharCode(octet) : `#${octet.toString(16).padStart(2, '0')}`)).join('')}`;
}

/** Writes a date in UTC (section 7.9.4). */
export function dateString(at: Date): string {
  return `(D:${at.toISOString().slice(0, 19).replaceAll(/\D/g, '')}Z)`;
}

/** Writes a reference to an object. */
export function reference(number: number): string {
  return `${number} 0 R`;
}

/**
 * Adds entries to a dictionary.
 * @param dictionary `<<…>>`
 * @throws {Error} when the dictionary has one of the keys already
 */
export function withEntries(dictionary: Buffer, entries: Readonly<Record<string, string>>): Buffer {
  const text = dictionary.toString('latin1');
  if (!text.startsWith('<<') || !text.endsWith('>>')) throw new Error(`not a dictionary: ${text.slice(0, 40)}`);
  for (const key of Object.keys(entries)) {
    if (new RegExp(`/${key}\\b`).test(text)) throw new Error(`the dictionary has /${key} already`);
  }
  const added = Object.entries(entries).map(([key, value]) => `/${key} ${value}`);
  return Buffer.from(`${text.slice(0, -2)}\n${added.join('\n')}>>`, 'latin1');
}

/**
 * Writes a stream object with its `/Length`. @param entries the other dictionary entries, without the angle brackets
 */
export function streamObject(entries: string, data: Uint8Array): Buffer {
  return Buffer.concat([
    Buffer.from(`<<${entries}/Length ${data.byteLength}>>\nstream\n`, 'latin1'),
    data,
    Buffer.from('\nendstream', 'latin1'),
  ]);
}

/** Returns the decompressed content of a stream object; null when it is not a FlateDecode stream. */
export function inflatedStream(stream: Buffer): Buffer | null {
  const start = stream.indexOf('stream\n');
  if (start === -1 || !stream.subarray(0, start).includes('/FlateDecode')) return null;
  return inflateSync(stream.subarray(start + 'stream\n'.length));
}

/** Does what {@link inflatedStream} does, but returns a string with one character per octet. */
export function inflated(stream: Buffer): string | null {
  return inflatedStream(stream)?.toString('latin1') ?? null;
}
