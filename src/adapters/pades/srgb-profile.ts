/**
 * Makes an ICC profile of sRGB (IEC 61966-2-1), version 4.2, for the output intent of a PDF/A (ISO 19005-3, section
 * 6.2.3). It is generated here because it consists of 500 octets of published constants: primaries and white point
 * adapted to D50, and the transfer curve.
 */
export function srgbProfile(): Buffer {
  const curve = parametricCurve(2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045);
  const tags: [signature: string, data: Buffer][] = [
    ['desc', localized('sRGB IEC61966-2.1')],
    ['cprt', localized('No copyright, use freely')],
    ['wtpt', xyz(0.9642, 1, 0.8249)],
    ['chad', fixedArray([1.04788, 0.02292, -0.05022, 0.02959, 0.99048, -0.01707, -0.00925, 0.01508, 0.75168])],
    ['rXYZ', xyz(0.43607, 0.22249, 0.01392)],
    ['gXYZ', xyz(0.38515, 0.71687, 0.09708)],
    ['bXYZ', xyz(0.14307, 0.06061, 0.7141)],
    ['rTRC', curve],
    ['gTRC', curve],
    ['bTRC', curve],
  ];
  const table = Buffer.alloc(4 + tags.length * 12);
  table.writeUInt32BE(tags.length, 0);
  const placed = new Map<Buffer, number>();
  let end = HEADER_LENGTH + table.length;
  tags.forEach(([signature, data], index) => {
    const at = placed.get(data) ?? end;
    if (at === end) end += data.length;
    placed.set(data, at);
    const entry = 4 + index * 12;
    table.write(signature, entry, 'latin1');
    table.writeUInt32BE(at, entry + 4);
    table.writeUInt32BE(data.length, entry + 8);
  });
  return Buffer.concat([header(end), table, ...placed.keys()], end);
}

const HEADER_LENGTH = 128;

/** Writes the header of the profile (ICC.1:2004-10, section 7.2). */
function header(size: number): Buffer {
  const octets = Buffer.alloc(HEADER_LENGTH);
  octets.writeUInt32BE(size, 0);
  octets.writeUInt32BE(0x04200000, 8);
  octets.write('mntrRGB XYZ ', 12, 'latin1');
  [2026, 1, 1, 0, 0, 0].forEach((part, index) => {
    octets.writeUInt16BE(part, 24 + index * 2);
  });
  octets.write('acsp', 36, 'latin1');
  [0.9642, 1, 0.8249].forEach((value, index) => {
    octets.writeInt32BE(fixed(value), 68 + index * 4);
  });
  return octets;
}

/** Converts a number to an s15Fixed16Number. */
function fixed(value: number): number {
  return Math.round(value * 65_536);
}

function fixedArray(values: readonly number[], type = 'sf32'): Buffer {
  const octets = Buffer.alloc(8 + values.length * 4);
  octets.write(type, 0, 'latin1');
  values.forEach((value, index) => {
    octets.writeInt32BE(fixed(value), 8 + index * 4);
  });
  return octets;
}

function xyz(...values: readonly number[]): Buffer {
  return fixedArray(values, 'XYZ ');
}

/** Writes a parametricCurveType, function type 3: (a x + b)^g for x ≥ d, c x below d. */
function parametricCurve(g: number, a: number, b: number, c: number, d: number): Buffer {
  const octets = fixedArray([0, g, a, b, c, d], 'para');
  octets.writeUInt16BE(3, 8);
  return octets;
}

/** Writes a multiLocalizedUnicodeType with one English text, padded to a multiple of four octets. */
function localized(text: string): Buffer {
  const characters = Buffer.from(text, 'utf16le').swap16();
  const octets = Buffer.alloc(Math.ceil((28 + characters.length) / 4) * 4);
  octets.write('mluc', 0, 'latin1');
  octets.writeUInt32BE(1, 8);
  octets.writeUInt32BE(12, 12);
  octets.write('enUS', 16, 'latin1');
  octets.writeUInt32BE(characters.length, 20);
  octets.writeUInt32BE(28, 24);
  characters.copy(octets, 28);
  return octets;
}
