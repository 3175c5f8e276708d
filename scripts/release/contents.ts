import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { unpackTar } from 'modern-tar';
import { fromBufferPromise } from 'yauzl';
import { MACHINE_PATH } from '../check/text-rules.ts';
import { checkManifest } from './checks.ts';
import { readManifest } from './packages.ts';

/** A file of an archive. */
export interface Item {
  readonly path: string;
  readonly bytes: Uint8Array;
}

const TEST =
  /(?:^|\/)(?:tests?|__tests__|conformance)(?:\/|\.\w+$)|[._](?:test|spec)\.\w+$|(?:^|\/)test_\w+\.py$|Tests?\.java$/;
const SECRET_FILE =
  /(?:^|\/)(?:\.env(?:\..+)?|\.npmrc|\.pypirc|\.netrc|auth\.json|id_(?:rsa|ed25519)|.+\.(?:pem|key|p12|pfx|jks))$/;
/** Keys of ours, of registries and of hosts, at the lengths that real ones have. */
const SECRET =
  /-----BEGIN [A-Z ]*PRIVATE KEY-----\s*[A-Za-z0-9+/]{32}|\b[sp]k_(?:test|live)_[\w-]{32,}|\bwhsec_[A-Za-z0-9+/]{43}=|\bnpm_[A-Za-z0-9]{36}|\bgh[pousr]_[A-Za-z0-9]{36}|\bAKIA[A-Z0-9]{16}\b|\bpypi-AgE[\w-]{32,}/g;
/** Minimum length of a Python package's description that counts as its README, characters. */
const LEAST_README = 200;

/** Reads a .tgz, .tar.gz, .zip or .whl file, with its files in the order of their paths. */
export async function readArchive(file: string): Promise<Item[]> {
  const bytes = readFileSync(file);
  const items = /\.(?:zip|whl)$/.test(file) ? await readZip(bytes) : await readTar(bytes);
  return items.toSorted((one, other) => (one.path < other.path ? -1 : 1));
}

async function readTar(bytes: Uint8Array): Promise<Item[]> {
  const entries = await unpackTar(gunzipSync(bytes));
  return entries.flatMap(({ header, data }) => (data === undefined ? [] : [{ path: header.name, bytes: data }]));
}

async function readZip(bytes: Buffer): Promise<Item[]> {
  const items: Item[] = [];
  const zip = await fromBufferPromise(bytes);
  for await (const entry of zip.eachEntry()) {
    if (entry.fileName.endsWith('/')) continue;
    const parts = await (await zip.openReadStreamPromise(entry)).toArray();
    items.push({ path: entry.fileName, bytes: Buffer.concat(parts) });
  }
  return items;
}

/**
 * Finds contents that a package must not have (tests, secrets, paths of a machine), and missing ones: a README, and a
 * manifest with the version and the licence.
 * @param licence as in package.json
 * @returns the problems, `path: what`
 */
export function checkContents(items: readonly Item[], version: string, licence: string): string[] {
  const problems: string[] = [];
  let hasReadme = false;
  let hasManifest = false;
  for (const { path, bytes } of items) {
    const text = Buffer.from(bytes).toString('utf8');
    if (TEST.test(path)) problems.push(`${path}: a test`);
    if (SECRET_FILE.test(path)) problems.push(`${path}: a file for secrets`);
    // Only the beginning, so that the report contains no secret.
    for (const [secret] of text.matchAll(SECRET)) problems.push(`${path}: a secret, ${secret.slice(0, 10)}…`);
    for (const [found] of text.matchAll(MACHINE_PATH)) problems.push(`${path}: a path of a machine, ${found}`);
    const name = posix.basename(path);
    // Below the folder that most archives have, and that those of Python have twice.
    if (path.split('/').length > 2) continue;
    if (/^README\.md$/i.test(name)) hasReadme = true;
    if (readManifest(name, text) === null) continue;
    hasManifest = true;
    problems.push(...checkManifest({ path, text }, version, licence));
    if (/^(?:METADATA|PKG-INFO)$/.test(name) && text.split('\n\n').slice(1).join('\n\n').length >= LEAST_README)
      hasReadme = true;
  }
  if (!hasReadme) problems.push('has no README');
  if (!hasManifest) problems.push('has no manifest');
  return problems;
}
