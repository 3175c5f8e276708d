/**
 * Encodes an element. This file has the part of DER (ITU-T X.690) that a CMS signature needs. Contents are complete
 * elements, so certificates are copied octet by octet.
 */

function element(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const length = contents.reduce((sum, { byteLength }) => sum + byteLength, 0);
  return Buffer.concat([Buffer.of(tag), lengthOctets(length), ...contents]);
}

export const sequence = (...elements: readonly Uint8Array[]) => element(0x30, ...elements);
/** Encodes a SET OF. DER sorts its elements by their octets (section 11.6). */
export const set = (...elements: readonly Uint8Array[]) => element(0x31, ...[...elements].sort(Buffer.compare));
export const octetString = (octets: Uint8Array) => element(0x04, octets);
export const smallInteger = (value: number) => element(0x02, Buffer.of(value));
export const NULL = element(0x05);
/** Encodes a constructed element with a context-specific tag. */
export const tagged = (tag: number, ...contents: readonly Uint8Array[]) => element(0xa0 | tag, ...contents);

/** Encodes a non-negative INTEGER. @param magnitude big-endian */
export function unsignedInteger(magnitude: Uint8Array): Buffer {
  const first = magnitude.findIndex((octet) => octet !== 0);
  const significant = first === -1 ? Buffer.of(0) : magnitude.subarray(first);
  return element(0x02, ...(significant[0]! & 0x80 ? [Buffer.of(0)] : []), significant);
}

/** Encodes an object identifier. @param dotted `1.2.840.113549` */
export function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return element(0x06, Buffer.from([first * 40 + second, ...rest].flatMap(base128)));
}

function base128(value: number): number[] {
  const octets = [value & 0x7f];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128))
    octets.unshift(0x80 | (rest & 0x7f));
  return octets;
}

function lengthOctets(length: number): Buffer {
  if (length < 0x80) return Buffer.of(length);
  const octets = Buffer.alloc(4);
  octets.writeUInt32BE(length);
  const significant = octets.subarray(octets.findIndex((octet) => octet !== 0));
  return Buffer.concat([Buffer.of(0x80 | significant.length), significant]);
}

/**
 * Returns the elements inside a constructed element, each with its tag and length.
 * @throws {RangeError} when the input is truncated
 */
export function elementsOf(constructed: Uint8Array): Buffer[] {
  const octets = Buffer.from(constructed.buffer, constructed.byteOffset, constructed.byteLength);
  const outer = headOf(octets, 0);
  const elements: Buffer[] = [];
  for (let at = outer.content; at < outer.end; ) {
    const { end } = headOf(octets, at);
    elements.push(octets.subarray(at, end));
    at = end;
  }
  return elements;
}

function headOf(octets: Buffer, at: number): { content: number; end: number } {
  const first = octets.readUInt8(at + 1);
  const count = first < 0x80 ? 0 : first & 0x7f;
  const content = at + 2 + count;
  return { content, end: content + (count === 0 ? first : octets.readUIntBE(at + 2, count)) };
}
