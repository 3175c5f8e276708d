import { access, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTemporaryFiles } from '../../../../src/adapters/spreadsheet/temporary-file.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'temporary-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function* pieces() {
  yield Buffer.from('a');
  yield Buffer.from('b');
}

it('makes copies that nobody else may read, and leaves none', async () => {
  const files = createTemporaryFiles(folder, false);
  const [one, other] = [await files.copy(pieces()), await files.copy(pieces())];
  expect(await readFile(one.path, 'utf8')).toBe('ab');
  expect((await stat(dirname(one.path))).mode & 0o777).toBe(0o700);
  await one.remove();
  await expect(access(one.path)).rejects.toThrow();
  await access(other.path);
  await files.close();
  expect(await readdir(folder)).toEqual([]);
});

it('removes what killed processes have left, and nothing through a link', async () => {
  const [left, used, elsewhere] = ['imports-left', 'imports-used', 'data'].map((name) => join(folder, name));
  for (const path of [left, used, elsewhere] as string[]) await mkdir(path);
  for (const path of [left, elsewhere] as string[]) {
    await writeFile(join(path, 'file'), 'a');
    await utimes(path, new Date(0), new Date(0));
  }
  await symlink(elsewhere as string, join(folder, 'imports-link'));
  const files = createTemporaryFiles(folder, false);
  const own = await files.copy(pieces());
  await files.sweep();
  expect((await readdir(folder)).sort()).toEqual(
    ['data', 'imports-link', 'imports-used', dirname(own.path).slice(folder.length + 1)].sort(),
  );
  expect(await readdir(elsewhere as string)).toEqual(['file']);
  await createTemporaryFiles(folder, true).sweep();
  expect(await readdir(folder)).not.toContain('imports-used');
});

it('of a process that lives are not removed by others, however long it has had none', async () => {
  const [files, others] = [createTemporaryFiles(folder, false), createTemporaryFiles(folder, false)];
  const own = dirname((await files.copy(pieces())).path);
  await utimes(own, new Date(0), new Date(0));
  await files.sweep();
  await others.sweep();
  expect(await readdir(folder)).toEqual([own.slice(folder.length + 1)]);
});

it('are made again after their folder was removed, or could not be made', async () => {
  const files = createTemporaryFiles(join(folder, 'data'), false);
  await expect(files.copy(pieces())).rejects.toThrow('ENOENT');
  await mkdir(join(folder, 'data'));
  const first = await files.copy(pieces());
  await rm(dirname(first.path), { recursive: true });
  expect(await readFile((await files.copy(pieces())).path, 'utf8')).toBe('ab');
});
