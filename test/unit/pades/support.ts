import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Runs `work` with files of these contents in a temporary folder. */
export function inFolder<T>(files: Readonly<Record<string, Uint8Array | string>>, work: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'fatoura-pades-'));
  try {
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
    return work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Output of poppler's pdfsig about a file's signatures. */
export function pdfsig(pdf: Uint8Array): string {
  return inFolder({ 'it.pdf': pdf }, (folder) =>
    execFileSync('pdfsig', ['-nocert', join(folder, 'it.pdf')], {
      encoding: 'utf8',
      env: { ...process.env, TZ: 'UTC' },
    }),
  );
}

/** The name and content of the file embedded in a PDF, extracted by poppler's pdfdetach. */
export function detached(pdf: Uint8Array, place = 1): { name: string; content: Buffer } {
  return inFolder({ 'it.pdf': pdf }, (folder) => {
    const list = execFileSync('pdfdetach', ['-list', join(folder, 'it.pdf')], { encoding: 'utf8' });
    execFileSync('pdfdetach', ['-save', String(place), '-o', join(folder, 'out'), join(folder, 'it.pdf')]);
    return {
      name: new RegExp(`^${place}: (.*)$`, 'm').exec(list)?.[1] ?? '',
      content: readFileSync(join(folder, 'out')),
    };
  });
}

/** The signature of a PDF file. */
export interface StatedSignature {
  /** The signed octets. */
  readonly content: Buffer;
  readonly cms: Buffer;
  /** Whether the byte range covers the whole file except the signature. */
  readonly coversAll: boolean;
}

export function statedSignature(pdf: Uint8Array): StatedSignature {
  const file = Buffer.from(pdf);
  const range = /\/ByteRange\[(\d+) (\d+) (\d+) (\d+)\]/.exec(file.toString('latin1'));
  if (range === null) throw new Error('the file has no byte range');
  const [start, length, next, rest] = range.slice(1).map(Number) as [number, number, number, number];
  const hole = file.toString('latin1', length, next);
  const padded = Buffer.from(hole.slice(1, -1), 'hex');
  // The length of the DER element tells where the padding begins; a CMS signature takes 256 to 65,535 octets.
  const cms = padded.subarray(0, 4 + padded.readUInt16BE(2));
  return {
    content: Buffer.concat([file.subarray(start, start + length), file.subarray(next, next + rest)]),
    cms,
    coversAll: start === 0 && next + rest === file.length && /^<[0-9a-f]+>$/.test(hole),
  };
}
