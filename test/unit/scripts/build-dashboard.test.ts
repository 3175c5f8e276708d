import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { buildDashboard } from '../../../scripts/build-dashboard.ts';

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'pages-'));
  const live = ['clients/live/src', 'clients/live/releases'];
  for (const folder of ['src/dashboard', 'src/domain', 'src/text', ...live, 'clients/typescript/src'])
    await mkdir(join(root, folder), { recursive: true });
  await writeFile(join(root, 'package.json'), '{}');
  await writeFile(join(root, 'src/dashboard/index.html'), '<script type="module" src="./main.ts"></script>');
  await writeFile(join(root, 'clients/live/src/index.ts'), "export const follow = 'live';");
  await write('first');
});
afterEach(() => rm(root, { recursive: true, force: true }));

const write = async (text: string, limit = 1) => {
  await writeFile(join(root, 'src/domain/limits.ts'), `export const LIMIT = ${limit};`);
  const page = `import { LIMIT } from '../domain/limits.ts';\ndocument.title = '${text}' + LIMIT;`;
  await writeFile(join(root, 'src/dashboard/main.ts'), page);
};

/** The scripts that the built page loads. */
async function built(): Promise<string> {
  const output = join(root, 'dist/dashboard');
  const page = await readFile(join(output, 'index.html'), 'utf8');
  const scripts = [...page.matchAll(/src="([^"]+)"/g)].map(([, path]) => readFile(join(output, path ?? ''), 'utf8'));
  return (await Promise.all(scripts)).join('\n');
}

it('builds when the sources or the packages changed, and only then', async () => {
  expect(await buildDashboard(root)).toBe(true);
  expect(await built()).toContain('first');
  expect(await buildDashboard(root)).toBe(false);
  await write('second');
  expect(await buildDashboard(root)).toBe(true);
  expect(await built()).toContain('second');
  await write('second', 2);
  expect(await buildDashboard(root)).toBe(true);
  await writeFile(join(root, 'package-lock.json'), '{}');
  expect(await buildDashboard(root)).toBe(true);
});

it('puts the files of releases beside the element of this version', async () => {
  await writeFile(join(root, 'clients/live/releases/fatoura-live-000000000000.js'), 'released');
  await buildDashboard(root);
  expect(await readdir(join(root, 'dist/dashboard/live'))).toEqual(['fatoura-live-000000000000.js', 'fatoura-live.js']);
});

it('keeps the pages that there are when a source is invalid', async () => {
  await buildDashboard(root);
  await writeFile(join(root, 'src/dashboard/main.ts'), 'const = 1;');
  await expect(buildDashboard(root)).rejects.toThrow();
  expect(await built()).toContain('first');
  expect(await readdir(join(root, 'dist'))).toEqual(['dashboard']);
});
