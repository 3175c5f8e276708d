import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root } from '../support/client-examples.ts';
import { examplesFile, runExamples } from '../support/docs-examples.ts';
import { pythonWith } from '../support/python-tool.ts';
import { startService, type TestService } from '../support/service.ts';
import { hasTool } from '../support/tools.ts';

// The examples of the reference at /docs that are compiled or need packages; test/api/docs-examples.test.ts runs the others.

const CACHE = join(root, 'node_modules/.cache/docs-examples');

describe('the examples of the reference', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
    mkdirSync(CACHE, { recursive: true });
  });
  afterAll(() => service.close());

  const python = pythonWith('client-python', ['httpx==0.28.1', 'mypy==1.18.2', 'ruff==0.14.6', 'hatchling==1.28.0']);
  it.skipIf(python === null)('in Python (skipped without Python 3.10 or PyPI)', async () => {
    const environment = { PYTHONPATH: join(root, 'clients/python/src') };
    await runExamples(service, [python ?? '', '-c', examplesFile('python.py')], environment);
  });

  it.skipIf(!hasTool('go'))('in Go (skipped without Go)', async () => {
    const client = 'fatoura.example/fatoura';
    const required = `require ${client} v0.0.0\n\nreplace ${client} => ${join(root, 'clients/go')}\n`;
    writeFileSync(join(CACHE, 'go.mod'), `module example\n\ngo 1.24\n\n${required}`);
    writeFileSync(join(CACHE, 'main.go'), examplesFile('go.go'));
    await runExamples(service, ['go', 'run', '-C', CACHE, '.']);
    expect(spawnSync('gofmt', ['-l', join(root, 'docs/examples/go.go')], { encoding: 'utf8' }).stdout).toBe('');
  });

  const hasJava = hasTool('java') && hasTool('javac') && hasTool('mvn');
  it.skipIf(!hasJava)('in Java (skipped without a JDK and Maven)', async () => {
    const client = join(root, 'clients/java');
    const built = spawnSync('mvn', ['-B', '-q', 'compile', 'dependency:copy-dependencies'], {
      cwd: client,
      encoding: 'utf8',
    });
    expect(built.status, built.stdout).toBe(0);
    const classes = [join(client, 'target/classes'), join(client, 'target/dependency/*')].join(':');
    const file = join(CACHE, 'Examples.java');
    writeFileSync(file, examplesFile('java.java'));
    await runExamples(service, ['java', '-cp', classes, file], { FATOURA_URL: service.url });
  });
});
