import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { root } from '../support/client-examples.ts';
import { clientSuite, examplesInTurn, type FirstExample, firstExample } from '../support/client-suite.ts';
import { pythonWith } from '../support/python-tool.ts';
import { verifyExample } from '../support/verify-example.ts';

// The client for Python: the suite with both of its forms, its own tests, its types, and the package as it is installed.

const PACKAGES = ['httpx==0.28.1', 'mypy==1.18.2', 'ruff==0.14.6', 'hatchling==1.28.0'];
const FOLDER = join(root, 'clients/python');

const python = pythonWith('client-python', PACKAGES);

describe.skipIf(python === null)('the client for Python (skipped without Python 3.10 or PyPI)', () => {
  const command = python ?? '';
  const run = (...args: string[]) => execFileSync(command, args, { cwd: FOLDER, encoding: 'utf8', stdio: 'pipe' });
  const installed = mkdtempSync(join(tmpdir(), 'fatoura-python-'));
  afterAll(() => rmSync(installed, { recursive: true }));

  it('is installed as a package with its types', () => {
    run('-m', 'pip', 'install', '--no-deps', '--no-build-isolation', '--quiet', '--target', installed, '.');
    expect(readdirSync(join(installed, 'fatoura'))).toContain('py.typed');
    const env = { ...process.env, MYPYPATH: '', PYTHONPATH: installed };
    const use = 'import fatoura; reveal_type(fatoura.Fatoura("k").invoices.get("i")["amount"])';
    const args = ['-m', 'mypy', '--strict', '--config-file=', '--python-executable', command, '-c', use];
    expect(execFileSync(command, args, { cwd: installed, env, encoding: 'utf8' })).toContain('"builtins.int"');
  });

  const readme: FirstExample = {
    folder: 'python',
    fence: 'python',
    start: (source) => [command, '-c', source],
    environment: { PYTHONPATH: installed },
  };
  firstExample(readme);
  examplesInTurn({ ...readme, count: 3 });
  verifyExample({
    ...readme,
    start: (example) =>
      readme.start(`import os, types
headers = {"Service-Signature": os.environ["SIGNATURE"]}
request = types.SimpleNamespace(body=os.environb[b"BODY"], headers=headers)
${example}
print(event["type"])`),
  });

  it('has strict types', () => {
    expect(run('-m', 'mypy')).toContain('Success');
  });

  it('has one format', () => {
    expect(run('-m', 'ruff', 'check')).toContain('passed');
    run('-m', 'ruff', 'format', '--check');
  });

  it('passes its own tests', () => {
    run('-W', 'error', '-m', 'unittest', 'discover', '-s', 'tests');
  });

  for (const form of ['sync', 'async'])
    clientSuite(`Python, ${form}`, command, ['clients/python/conformance.py', form]);
});
