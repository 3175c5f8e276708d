import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { packTar } from 'modern-tar';
import { describe, expect, it } from 'vitest';
import { checkChangelog, checkManifest, checkTree } from '../../../scripts/release/checks.ts';
import { checkContents, readArchive } from '../../../scripts/release/contents.ts';
import { nameLines, packageNames, unusableNames } from '../../../scripts/release/names.ts';
import { licenceIn, PACKAGES, readManifest, readName } from '../../../scripts/release/packages.ts';
import { help, publishingCommands } from '../../../scripts/release/publishing.ts';

const root = new URL('../../../', import.meta.url);
const committed = (path: string) => readFileSync(new URL(path, root), 'utf8');

describe('the tree', () => {
  it('must be clean, and the commit of the tag if there is one', () => {
    expect(checkTree({ status: '', head: 'a', tagged: 'a' }, '1.2.3')).toEqual({ problems: [], remaining: [] });
    expect(checkTree({ status: '', head: 'a', tagged: null }, '1.2.3')).toEqual({
      problems: [],
      remaining: ['no tag v1.2.3 yet'],
    });
    const { problems } = checkTree(
      { status: ' M a.ts\n?? b.ts', head: 'a'.repeat(40), tagged: 'b'.repeat(40) },
      '1.2.3',
    );
    expect(problems).toEqual([
      'the tree is not clean:  M a.ts, ?? b.ts',
      'v1.2.3 is the commit bbbbbbbb, and this is aaaaaaaa: raise the version',
    ]);
  });
});

describe('manifests', () => {
  const { version, license } = JSON.parse(committed('package.json'));

  it.each(PACKAGES)('$folder has the version and the licence of the project', ({ folder, manifest }) => {
    const path = `${folder}/${manifest}`;
    expect(checkManifest({ path, text: committed(path) }, version, license)).toEqual([]);
  });

  it.each([
    ['a/package.json', '{"version": "2.0.0", "license": "UNLICENSED"}'],
    [
      'a/pyproject.toml',
      '[project]\nversion = "2.0.0"\nlicense = "LicenseRef-UNLICENSED"\n\n[tool]\nversion = "1.0.0"\n',
    ],
    ['a/composer.json', '{"version": "2.0.0", "license": "proprietary"}'],
    [
      'a/pom.xml',
      '<project><parent><version>1.0.0</version></parent><version>2.0.0</version><licenses><license><name>UNLICENSED</name></license></licenses></project>',
    ],
    ['a/METADATA', 'Name: a\nVersion: 2.0.0\nLicense-Expression: LicenseRef-UNLICENSED\n\nVersion: 1.0.0\n'],
  ])('another version in %s is named', (path, text) => {
    expect(checkManifest({ path, text }, '1.0.0', 'UNLICENSED')).toEqual([
      `${path} has the version 2.0.0, package.json 1.0.0`,
    ]);
  });

  it.each([
    ['package.json', '{}', ['states no version', 'has no licence, not UNLICENSED']],
    ['pyproject.toml', '[tool]\nversion = "1"\n', ['states no version', 'has no licence, not LicenseRef-UNLICENSED']],
    // Their version is the tag.
    ['composer.json', '{"license": "MIT"}', ['has the licence MIT, not proprietary']],
    ['go.mod', 'module a\n', []],
    ['pom.xml', '<project/>', ['states no version', 'has no licence, not UNLICENSED']],
    ['other.txt', '', ['is no manifest']],
  ])('what is missing in %s is named', (path, text, problems) => {
    expect(checkManifest({ path, text }, '1.0.0', 'UNLICENSED')).toEqual(
      problems.map((problem) => `${path} ${problem}`),
    );
  });

  it('says a licence as each ecosystem does', () => {
    expect(licenceIn('pyproject.toml', 'MIT')).toBe('MIT');
    expect(licenceIn('composer.json', 'MIT')).toBe('MIT');
    expect(licenceIn('go.mod', 'MIT')).toBeNull();
    expect(readManifest('README.md', '')).toBeNull();
  });
});

describe('names', () => {
  it('are those of the manifests', () => {
    expect(packageNames(committed).map(({ registry, name }) => [registry, name])).toEqual([
      ['npm', '@fatoura/client'],
      ['npm', '@fatoura/live'],
      ['npm', 'fatoura'],
      ['PyPI', 'fatoura'],
      ['Packagist', 'fatoura/client'],
      ['Maven', readName('pom.xml', committed('clients/java/pom.xml'))],
      ['Go', readName('go.mod', committed('clients/go/go.mod'))],
    ]);
    expect(() => readName('go.mod', 'go 1.24\n')).toThrow('no name');
  });

  it('say how they are changed, where other files name them', () => {
    const names = [{ registry: 'Go', name: 'a.example/b', file: 'clients/go/go.mod' }] as const;
    expect(nameLines(names, () => ['clients/go/go.mod', 'clients/go/README.md'])).toEqual([
      "Go: a.example/b (clients/go/go.mod, named in clients/go/README.md: git grep -lF 'a.example/b' clients test | xargs sed -i 's|a.example/b|<new name>|g')",
    ]);
    expect(nameLines([{ registry: 'npm', name: 'fatoura', file: 'a' }], () => ['b'])).toEqual(['npm: fatoura (a)']);
  });

  it('that nobody can publish or fetch remain to be replaced', () => {
    const unusable = (registry: 'Go' | 'Maven', name: string) => unusableNames([{ registry, name, file: 'a' }]);
    expect(unusable('Go', 'fatoura.example/fatoura')).toHaveLength(1);
    expect(unusable('Go', 'example.com/fatoura')).toEqual([]);
    expect(unusable('Maven', 'fatoura:fatoura-client')).toHaveLength(1);
    expect(unusable('Maven', 'ma.fatoura:fatoura-client')).toEqual([]);
  });
});

describe('the changelog', () => {
  it('has the version under its heading with a day', () => {
    expect(checkChangelog('# C\n\n## [1.0.0] - 2026-12-01\n\n- a\n', '1.0.0')).toEqual({ problems: [], remaining: [] });
    expect(checkChangelog('## [1.0.0]\n\n## [0.9.0] - 2026-11-01\n\n- a\n', '1.0.0').problems).toEqual([
      'CHANGELOG.md: 1.0.0 has no entries',
      'CHANGELOG.md: the heading of 1.0.0 has no day',
    ]);
  });

  it('or among what is unreleased, which a person then names', () => {
    const coming = checkChangelog('## [Unreleased]\n\nWhat will be 1.0.0.\n\n- a\n', '1.0.0');
    expect(coming.problems).toEqual([]);
    expect(coming.remaining).toHaveLength(1);
  });

  it.each([
    [
      'another version',
      '## [Unreleased]\n\nWhat will be 1.0.0.\n\n- a\n\n## [1.0.0-rc.1] - 2026-12-01\n\n- a\n',
      '1.1.0',
    ],
    ['nothing', '## [Unreleased]\n\nWhat will be 1.0.0.\n', '1.0.0'],
  ])('and with %s it is a problem', (_name, text, version) => {
    expect(checkChangelog(text, version).problems).toEqual([`CHANGELOG.md has no entry for ${version}`]);
  });
});

describe('the contents of a package', () => {
  const item = (path: string, text = '') => ({ path: `package/${path}`, bytes: Buffer.from(text) });
  const manifest = item('package.json', '{"version": "1.0.0", "license": "MIT"}');
  const good = [manifest, item('README.md', '# A'), item('dist/index.js', 'export const latest = "test";')];
  const check = (...more: ReturnType<typeof item>[]) => checkContents([...good, ...more], '1.0.0', 'MIT');

  it('a good one has no problems', () => {
    expect(check(item('src/attestation.ts'), item('keys.ts', 'sk_test_… sk_test_abc whsec_…'))).toEqual([]);
  });

  it.each([
    'tests/run.php',
    'src/test/java/A.java',
    'a.test.ts',
    'amounts_test.go',
    'tests/test_client.py',
    'conformance.py',
    'conformance/main.go',
    'AmountsTest.java',
  ])('the test %s is refused', (path) => {
    expect(check(item(path))).toEqual([`package/${path}: a test`]);
  });

  it.each(['.env', '.env.local', '.npmrc', 'deploy/server.pem', 'auth.json', 'id_ed25519'])(
    'the file %s is refused',
    (path) => {
      expect(check(item(path))).toEqual([`package/${path}: a file for secrets`]);
    },
  );

  it.each([
    ['sk_live_', 'a'.repeat(32)],
    ['whsec_', `${'a'.repeat(43)}=`],
    ['npm_', 'a'.repeat(36)],
    ['ghp_', 'a'.repeat(36)],
    ['AKIA', 'A'.repeat(16)],
    ['-----BEGIN PRIVATE KEY-----\n', 'M'.repeat(64)],
  ])('a secret %s is refused, and not shown', (start, rest) => {
    const [problem, ...others] = check(item('a.js', `const key = '${start}${rest}';`));
    expect(problem).toContain('package/a.js: a secret');
    expect(problem).not.toContain(rest);
    expect(others).toEqual([]);
  });

  it('the path of a machine is refused', () => {
    const path = ['', 'home', 'amina', 'fatoura'].join('/');
    expect(check(item('a.js', `import '${path}'`))).toEqual([`package/a.js: a path of a machine, ${path}`]);
  });

  it('what is missing is named, also where only a dependency has it', () => {
    expect(checkContents([item('dist/a/package.json', '{}'), item('dist/a/README.md')], '1.0.0', 'MIT')).toEqual([
      'has no README',
      'has no manifest',
    ]);
    const module = [item('go.mod', 'module a'), item('README.md')];
    expect(checkContents(module, '1.0.0', 'MIT')).toEqual([]);
  });

  it('a wheel has its README in its description', () => {
    const metadata = (description: string) => [
      {
        path: 'a-1.0.0.dist-info/METADATA',
        bytes: Buffer.from(`Version: 1.0.0\nLicense-Expression: MIT\n\n${description}`),
      },
    ];
    expect(checkContents(metadata('word '.repeat(60)), '1.0.0', 'MIT')).toEqual([]);
    expect(checkContents(metadata('Short.'), '1.0.0', 'MIT')).toEqual(['has no README']);
  });

  it('is read from a tarball, without folders', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'fatoura-archive-'));
    try {
      const tar = await packTar([
        { header: { name: 'a/', type: 'directory', size: 0 } },
        { header: { name: 'a/b', size: 2 }, body: 'bb' },
        { header: { name: 'a/a', size: 1 }, body: 'a' },
      ]);
      writeFileSync(join(folder, 'a.tgz'), gzipSync(tar));
      const items = await readArchive(join(folder, 'a.tgz'));
      expect(items.map(({ path, bytes }) => [path, bytes.length])).toEqual([
        ['a/a', 1],
        ['a/b', 2],
      ]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

it('the help says who publishes, and by which commands', () => {
  const text = help('1.2.3', 'release/1.2.3', null);
  expect(text).toContain(publishingCommands('1.2.3', 'release/1.2.3', null));
  expect(text).toContain('by a person');
  for (const { manifest, folder } of PACKAGES)
    if (manifest !== 'package.json' && manifest !== 'pyproject.toml') expect(text).toContain(folder);
});

it('the commands name what was made, and nothing else', () => {
  const all = publishingCommands('1.2.3', 'out', null);
  for (const name of ['client-1.2.3.tgz', 'live-1.2.3.tgz', '1.2.3.tgz'])
    expect(all).toContain(`npm publish out/fatoura-${name}`);
  expect(all).toContain('twine upload out/fatoura-1.2.3.tar.gz out/fatoura-1.2.3-py3-none-any.whl\n');
  const wheel = publishingCommands('1.2.3', 'out', ['fatoura-1.2.3.tgz', 'fatoura-1.2.3-py3-none-any.whl']);
  expect(wheel).toContain('twine upload out/fatoura-1.2.3-py3-none-any.whl\n');
  expect(wheel.match(/npm publish/g)).toHaveLength(1);
  expect(publishingCommands('1.2.3', 'out', [])).not.toMatch(/out\/fatoura|twine/);
});
