import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { PACKAGES, readName } from '../../scripts/release/packages.ts';
import { examplesOf, root } from '../support/client-examples.ts';

// The lines of the READMEs that install a package name the file, or the folder, that `npm run release` makes of it. How
// they are installed is tried in test/long/doors.test.ts and in the tests of each client.

const { version } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'));
/** Served by the service itself. */
const installed = PACKAGES.filter(({ folder }) => folder !== 'clients/live');

it.each(installed)(
  'the README of $folder says how it is installed before it is published',
  ({ folder, manifest, archive }) => {
    const name = readName(manifest, readFileSync(`${root}/${folder}/${manifest}`, 'utf8'));
    const ofTool =
      manifest === 'package.json'
        ? `${name.replace('@', '').replace('/', '-')}-${version}.tgz`
        : `${name}-${version}-py3-none-any.whl`;
    const made = archive === null ? ofTool : `${archive}-${version}`;
    const [lines = ''] = examplesOf(folder.replace('clients/', ''), 'sh');
    expect(lines).toMatch(new RegExp(`\\./${RegExp.escape(made)}(?:\\s|$)`));
    const readme = readFileSync(`${root}/${folder}/README.md`, 'utf8');
    expect(readme).toMatch(/not published yet/);
    // What a project names afterwards.
    if (/composer|go\.mod|pom/.test(manifest)) expect(readme).toContain(name);
  },
);
