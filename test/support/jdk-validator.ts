import { execFile, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const PROGRAM = fileURLToPath(new URL('./ValidateSignatures.java', import.meta.url));

/**
 * The reason to skip tests with the JDK's validator (javax.xml.crypto); null if they run. They need a JDK that runs
 * source files.
 */
export const WITHOUT_JDK =
  spawnSync('javac', ['-version']).status === 0
    ? null
    : 'there is no JDK 17 on this machine (Debian package openjdk-17-jdk-headless): skipped';

/** Whether the JDK verifies the signature of each document with the key of this certificate (PEM). */
export async function jdkVerifies(documents: readonly Uint8Array[], certificate: string): Promise<boolean[]> {
  const folder = await mkdtemp(join(tmpdir(), 'jdk-'));
  try {
    const [pem, signed] = [join(folder, 'certificate.pem'), join(folder, 'signed')];
    await mkdir(signed);
    await writeFile(pem, certificate);
    for (const [index, document] of documents.entries()) {
      await writeFile(join(signed, `${String(index).padStart(6, '0')}.xml`), document);
    }
    const { stdout } = await promisify(execFile)('java', [PROGRAM, pem, signed], { maxBuffer: 16 * 1024 * 1024 });
    return stdout
      .trim()
      .split('\n')
      .map((line) => line.startsWith('true '));
  } finally {
    await rm(folder, { recursive: true });
  }
}
