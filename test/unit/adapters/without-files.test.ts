import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const PROGRAM = fileURLToPath(new URL('../../support/without-files.ts', import.meta.url));

/** What happens in a process that may open no further file. */
async function without(kind: string): Promise<Record<string, unknown>> {
  const folder = await mkdtemp(join(tmpdir(), 'without-files-'));
  try {
    const command = `ulimit -n 256 && exec "$0" "$@"`;
    const words = ['-c', command, process.execPath, PROGRAM, kind, folder];
    return JSON.parse((await promisify(execFile)('bash', words)).stdout);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

describe.skipIf(process.platform === 'win32')('a process that may open no further file', () => {
  it('starts a thread as soon as it may, and the task waits', async () => {
    expect(await without('thread')).toEqual({ waited: '2', later: '42', fatal: null, uncaught: null });
  });

  it('fails the task when that takes long, and goes on', async () => {
    expect(await without('thread, for long')).toEqual({
      later: '42',
      fatal: null,
      uncaught: null,
      refused: expect.stringContaining('EMFILE'),
    });
  });

  it.each(['browser', 'unpacking'])('fails to start a program (%s), and goes on', async (kind) => {
    expect(await without(kind)).toEqual({
      later: '42',
      fatal: null,
      uncaught: null,
      refused: expect.stringMatching(/EMFILE/),
    });
  });
});
