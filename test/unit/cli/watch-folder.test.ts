import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { watchFolder } from '../../../src/cli/imports/watch-folder.ts';

const silent = { print: () => undefined, remark: () => undefined } as unknown as Parameters<typeof watchFolder>[1];

it('a file that is saved again while it is imported is imported again', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'watched-'));
  const path = join(folder, 'a.csv');
  const taken: string[] = [];
  try {
    await writeFile(path, 'first');
    const end = new AbortController();
    const importOne: Parameters<typeof watchFolder>[2] = async (file) => {
      taken.push(await readFile(file, 'utf8'));
      if (taken.length === 1) await writeFile(path, 'corrected');
      return { isReadable: true } as Awaited<ReturnType<typeof importOne>>;
    };
    const watching = watchFolder(folder, silent, importOne, end.signal);
    await expect
      .poll(() => readFile(join(folder, 'imported', 'a.csv'), 'utf8').catch(() => null), { timeout: 40_000 })
      .toBe('corrected');
    end.abort();
    await watching;
    expect(taken).toEqual(['first', 'corrected']);
    expect(await readdir(join(folder, 'imported'))).toEqual(['a.csv']);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
