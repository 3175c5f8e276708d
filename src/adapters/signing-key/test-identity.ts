import { createPrivateKey, randomUUID, X509Certificate } from 'node:crypto';
import { link, mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { SigningIdentity } from './software-key.ts';
import { makeTestIdentity } from './test-certificate.ts';

const FILE = 'signing-test-identity.pem';

/**
 * The test identity that is kept in `DATA_DIR` (design, section 7, `SIGNING_P12`), made at the first call. Its file is private (mode 0600)
 * and appears whole or not at all; of several processes that start at once, all use the one that came first.
 * @throws when the folder cannot be written, or when the file is there and holds no key with its certificate
 */
export async function loadTestIdentity(dataDir: string): Promise<SigningIdentity> {
  const file = join(dataDir, FILE);
  const kept = await readIdentity(file);
  if (kept !== null) return kept;
  await mkdir(dataDir, { recursive: true });
  // Valid since yesterday: a clock that is set back a little must not stop signing.
  const made = await makeTestIdentity(new Date(Date.now() - 86_400_000));
  await writeOnce(file, toPem(made));
  return (await readIdentity(file)) ?? made;
}

async function readIdentity(file: string): Promise<SigningIdentity | null> {
  let pem: string;
  try {
    pem = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  try {
    const privateKey = createPrivateKey(pem);
    const certificateChain = [new X509Certificate(pem)];
    return { privateKey, certificateChain };
  } catch (cause) {
    throw new Error(`${file} holds no private key with its certificate: move it away, and a new one is made.`, {
      cause,
    });
  }
}

function toPem({ privateKey, certificateChain }: SigningIdentity): string {
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' });
  return [key, ...certificateChain.map(String)].join('');
}

/** Writes a file under its final name unless that is taken. */
async function writeOnce(file: string, content: string): Promise<void> {
  const draft = `${file}.${randomUUID()}`;
  const handle = await open(draft, 'wx', 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  try {
    await link(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(draft);
  }
}
