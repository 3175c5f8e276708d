import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { privateFolder } from '../../../src/adapters/pdf/private-folder.ts';

let parent: string;
beforeEach(async () => {
  parent = join(await mkdtemp(join(tmpdir(), 'fatoura-folder-')), 'cache');
});
afterEach(() => rm(join(parent, '..'), { recursive: true }));

const fillWith = (text: string) => async (folder: string) => {
  await new Promise((resolve) => setTimeout(resolve, 5));
  await writeFile(join(folder, 'file'), text);
};

describe('privateFolder', () => {
  test('is private, filled once, and reused afterwards', async () => {
    const folder = await privateFolder(parent, 'tool', '1', fillWith('first'));
    expect(folder).toBe(join(parent, 'tool-1'));
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect(await privateFolder(parent, 'tool', '1', fillWith('second'))).toBe(folder);
    expect(await readFile(join(folder, 'file'), 'utf8')).toBe('first');
  });

  test('is one complete folder when many create it at the same time', async () => {
    const makers = Array.from({ length: 8 }, (_, index) => privateFolder(parent, 'tool', '1', fillWith(String(index))));
    expect(new Set(await Promise.all(makers))).toEqual(new Set([join(parent, 'tool-1')]));
    expect(await readdir(parent)).toEqual(['tool-1']);
    expect(await readdir(join(parent, 'tool-1'))).toEqual(['file']);
  });

  test('leaves nothing behind when filling fails, and can be retried', async () => {
    const failing = privateFolder(parent, 'tool', '1', async (folder) => {
      await writeFile(join(folder, 'half'), '');
      throw new Error('disk full');
    });
    await expect(failing).rejects.toThrow('disk full');
    expect(await readdir(parent)).toEqual([]);
    await privateFolder(parent, 'tool', '1', fillWith('whole'));
    expect(await readdir(join(parent, 'tool-1'))).toEqual(['file']);
  });

  test('removes other versions and old staging folders, and nothing else', async () => {
    await privateFolder(parent, 'tool', '1', fillWith(''));
    for (const name of ['unpacking-old', 'unpacking-new', 'other-1']) await mkdir(join(parent, name));
    await utimes(join(parent, 'unpacking-old'), 0, 0);
    await privateFolder(parent, 'tool', '2', fillWith(''));
    expect((await readdir(parent)).sort()).toEqual(['other-1', 'tool-2', 'unpacking-new']);
  });

  test.skipIf(process.platform === 'win32')('refuses a folder that others can write to', async () => {
    const folder = await privateFolder(parent, 'tool', '1', fillWith(''));
    await chmod(folder, 0o777);
    await expect(privateFolder(parent, 'tool', '1', fillWith(''))).rejects.toThrow(
      /writable by others: remove the folder/,
    );
  });
});
