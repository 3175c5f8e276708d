import { createPrivateKey, randomUUID, X509Certificate } from 'node:crypto';
import { link, mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { SetupError } from '../../domain/setup-error.ts';
import type { SigningIdentity } from './software-key.ts';
import { makeTestIdentity } from './test-certificate.ts';

const FILE = 'signing-test-identity.pem';

/**
 * Loads the test identity from `DATA_DIR` (docs/decisions/0034), and creates it at the first call. The file is private
 * (mode 0600) and is created atomically. Of several processes that start at the same time, all use the identity that
 * was created first.
 * @throws when the folder cannot be written, or when the file exists but does not hold a key and its certificate
 */
export async function loadTestIdentity(dataDir: string): Promise<SigningIdentity> {
  const file = join(dataDir, FILE);
  const kept = await readIdentity(file);
  if (kept !== null) return kept;
  await mkdir(dataDir, { recursive: true });
  // Valid since yesterday, so that signing still works when the clock is set back a little.
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
    throw new SetupError(
      `${file} does not hold a private key and its certificate: move the file away, and a new one is made.`,
      {
        cause,
      },
    );
  }
}

function toPem({ privateKey, certificateChain }: SigningIdentity): string {
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' });
  return [key, ...certificateChain.map(String)].join('');
}

/** Writes a file unless it exists already. */
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
