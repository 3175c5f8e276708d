import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { root } from '../support/client-examples.ts';
import { pythonWith } from '../support/python-tool.ts';
import { toolPath } from '../support/tools.ts';

// `npm run release` in a clone of the project: what it makes, what it refuses, and that it says what it leaves out.

const scratch = mkdtempSync(join(tmpdir(), 'fatoura-release-test-'));
const project = join(scratch, 'project');
const output = join(scratch, 'output');
const python = pythonWith('release', ['build==1.3.0']);
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const git = (...args: string[]) => execFileSync('git', args, { cwd: project, encoding: 'utf8', stdio: 'pipe' });

/** @returns the exit code and all output */
function release(args: readonly string[], path = process.env.PATH ?? '') {
  const { status, stdout, stderr } = spawnSync('npm', ['run', '--silent', 'release', '--', ...args], {
    cwd: project,
    encoding: 'utf8',
    env: { ...process.env, PATH: path },
  });
  return { status, text: stdout + stderr };
}

beforeAll(() => {
  execFileSync('git', ['clone', '--quiet', '--shared', root, project]);
  symlinkSync(join(root, 'node_modules'), join(project, 'node_modules'));
  git('config', 'user.name', 'Amina');
  git('config', 'user.email', 'amina@example.com');
});
afterAll(() => rmSync(scratch, { recursive: true }));

describe('npm run release', () => {
  it('publishes nothing, and says how a person does', () => {
    const { status, text } = release([]);
    expect(status).toBe(2);
    expect(text).toContain('This script publishes nothing');
    expect(text).toContain(`npm publish release/${version}/fatoura-${version}.tgz`);
    expect(release(['--publish']).status).toBe(2);
  });

  it.skipIf(python === null)('makes all packages (skipped without Python 3.10 or PyPI)', () => {
    const path = [dirname(python ?? ''), process.env.PATH].join(delimiter);
    const { status, text } = release(['--dry-run', '--output', output], path);
    expect(text).not.toContain('Problems:');
    expect(text).not.toContain('Left out');
    expect(status).toBe(0);
    const files = [
      `fatoura-${version}-py3-none-any.whl`,
      `fatoura-${version}.tar.gz`,
      `fatoura-${version}.tgz`,
      `fatoura-client-${version}.tgz`,
      ...['go', 'java', 'php'].map((name) => `fatoura-client-${name}-${version}.zip`),
      `fatoura-live-${version}.tgz`,
      'openapi.json',
      'schema.graphql',
    ];
    expect(readdirSync(output).toSorted()).toEqual(['SHA256SUMS', ...files].toSorted());
    const sums = readFileSync(join(output, 'SHA256SUMS'), 'utf8');
    for (const name of files) {
      const sum = createHash('sha256')
        .update(readFileSync(join(output, name)))
        .digest('hex');
      expect(sums).toContain(`${sum}  ${name}\n`);
      expect(text).toMatch(new RegExp(`^${name.replaceAll('.', '\\.')}: \\d+ bytes`, 'm'));
    }
    for (const file of [
      'dist/mcp.js',
      'dist/fatoura.js',
      'fatoura/py.typed',
      'src/Fatoura.php',
      'fatoura/Fatoura.java',
    ])
      expect(text).toContain(file);
    const listed = text.slice(0, text.indexOf('Names, and how to change them:'));
    expect(listed).not.toMatch(/_test\.go|conformance|tests\//);
    expect(text).toMatch(/^- Go: \S+ \(clients\/go\/go\.mod, named in .*clients\/go\/README\.md/m);
    expect(text).toMatch(/^- Maven: \S+:fatoura-client \(clients\/java\/pom\.xml, groupId and artifactId, named in /m);
  });

  it('makes the same bytes of the same commit, in any zone', () => {
    const sums = () =>
      readFileSync(join(output, 'SHA256SUMS'), 'utf8')
        .split('\n')
        .filter((line) => /\.(?:zip|tgz)$/.test(line));
    release(['--dry-run', '--output', output]);
    const before = sums();
    vi.stubEnv('TZ', 'Africa/Casablanca');
    release(['--dry-run', '--output', output]);
    vi.unstubAllEnvs();
    expect(before).toHaveLength(6);
    expect(sums()).toEqual(before);
  });

  it('the command of the tarball runs without other packages', () => {
    const folder = join(scratch, 'installed');
    mkdirSync(folder);
    const args = ['install', '--no-audit', '--no-fund', '--prefix', folder, join(output, `fatoura-${version}.tgz`)];
    execFileSync('npm', args, { cwd: folder, stdio: 'pipe' });
    expect(readdirSync(join(folder, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual(['fatoura']);
    expect(execFileSync(join(folder, 'node_modules/.bin/fatoura'), ['--version'], { encoding: 'utf8' })).toContain(
      version,
    );
  });

  it('says what it leaves out on a machine without Python', () => {
    const bin = join(scratch, 'bin');
    mkdirSync(bin);
    for (const name of ['git', 'npm', 'sh']) symlinkSync(toolPath(name) ?? '', join(bin, name));
    symlinkSync(process.execPath, join(bin, 'node'));
    const { status, text } = release(['--dry-run', '--output', output], bin);
    expect(text).toContain('- clients/python: no package, because python3 has neither the module build nor pip');
    expect(status).toBe(3);
    const commands = release(['--output', output]).text;
    expect(commands).toContain(`npm publish ${output}/fatoura-${version}.tgz`);
    expect(commands).not.toContain('twine');
    expect(readdirSync(output).filter((name) => /\.(?:whl|tar\.gz)$/.test(name))).toEqual([]);
  });

  it('does not empty a folder of somebody else', () => {
    const other = join(scratch, 'other');
    mkdirSync(other);
    writeFileSync(join(other, 'letter.txt'), 'Dear Amina');
    const { status, text } = release(['--dry-run', '--output', other]);
    expect(status).toBe(2);
    expect(text).toContain('letter.txt');
    expect(readdirSync(other)).toEqual(['letter.txt']);
  });

  it('refuses a tree that is not clean, another version, a test and a secret', () => {
    const manifest = join(project, 'clients/live/package.json');
    writeFileSync(manifest, readFileSync(manifest, 'utf8').replace(`"version": "${version}"`, '"version": "9.9.9"'));
    rmSync(join(project, 'clients/go/.gitattributes'));
    writeFileSync(join(project, 'clients/php/src/Example.php'), `<?php // sk_live_${'a'.repeat(32)}\n`);
    git('add', '.');
    git('commit', '--quiet', '--no-verify', '--message', 'What is refused');
    git('tag', `v${version}`, 'HEAD~');
    writeFileSync(join(project, 'left-over.txt'), '');
    const { status, text } = release(['--dry-run', '--output', output]);
    expect(status).toBe(1);
    const problems = text.slice(text.indexOf('Problems:'));
    expect(problems).toContain('the tree is not clean: ?? left-over.txt');
    expect(problems).toContain(`v${version} is the commit`);
    expect(problems).toContain(`clients/live/package.json has the version 9.9.9, package.json ${version}`);
    expect(problems).toContain('amounts_test.go: a test');
    expect(problems).toContain('src/Example.php: a secret, sk_live_aa…');
    expect(problems).not.toContain('a'.repeat(12));
  });
});
