import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root } from '../support/client-examples.ts';
import { examplesRunBy } from '../support/guide-examples.ts';
import { startService, type TestService } from '../support/service.ts';

// The collections as their users run them: by Bruno's and Postman's own programs, request by request, against a service,
// with the lines of their README.

const CACHE = join(root, 'node_modules/.cache/collections');
const TOOLS = ['@usebruno/cli@4.1.0', 'newman@6.2.2'];
const COLLECTIONS = join(root, 'clients/collections');
/** Requests of the document. */
const REQUESTS = 8;
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Installs the programs. @returns whether they are there */
function isInstalled(): boolean {
  try {
    mkdirSync(CACHE, { recursive: true });
    const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--silent', '--prefer-offline', '--save-exact'];
    execFileSync('npm', ['install', '--prefix', CACHE, ...quiet, ...TOOLS], { cwd: CACHE, stdio: 'ignore' });
    return true;
  } catch {
    console.warn('skipped: the programs of Bruno and Postman cannot be installed (no network?)');
    return false;
  }
}

describe.skipIf(!isInstalled())('the collections (skipped without a registry)', () => {
  let service: TestService;
  let key: string;
  const folder = mkdtempSync(join(tmpdir(), 'fatoura-collections-'));
  const [ofBruno, ofPostman] = [join(folder, 'bruno.json'), join(folder, 'postman.json')];
  beforeAll(async () => {
    service = await startService();
    key = (await service.tenant()).secretKey;
  });
  afterAll(async () => {
    await service.close();
    rmSync(folder, { recursive: true });
  });

  it('are sent in turn by the lines of the README, in one shell', async () => {
    const [bruno = '', postman = '', ...others] = examplesRunBy('test/long/client-collections.test.ts').map(
      ({ text }) => text,
    );
    expect(others).toEqual([]);
    const toService = `--env-var base_url=${service.url}`;
    const lines = [
      bruno.replace('--env-var', `--reporter-json ${ofBruno} ${toService} --env-var`),
      postman.replace('--env-var', `--reporters json --reporter-json-export ${ofPostman} ${toService} --env-var`),
    ];
    const path = [join(CACHE, 'node_modules/.bin'), process.env.PATH].join(delimiter);
    await promisify(execFile)('bash', ['-ec', lines.join('\n')], {
      cwd: COLLECTIONS,
      env: { ...process.env, PATH: path, FATOURA_KEY: key },
    });
  });

  it('get from Bruno what the document promises', () => {
    const [{ summary, results }] = JSON.parse(readFileSync(ofBruno, 'utf8'));
    expect(summary).toMatchObject({ totalRequests: REQUESTS, passedRequests: REQUESTS, passedAssertions: REQUESTS });
    expect(results[0].request.headers['Idempotency-Key']).toMatch(UUID);
    const streamed = results.find(({ test }: { test: { filename: string } }) => /live/.test(test.filename));
    expect(JSON.stringify(streamed.response.data)).toContain('accepted');
  });

  it('get the same from Postman', () => {
    const { stats, failures, executions } = JSON.parse(readFileSync(ofPostman, 'utf8')).run;
    const sent = executions[0].request.header.find(({ key: name }: { key: string }) => name === 'Idempotency-Key');
    expect(sent.value).toMatch(UUID);
    expect(failures).toEqual([]);
    expect(stats).toMatchObject({
      requests: { total: REQUESTS, failed: 0 },
      assertions: { total: REQUESTS, failed: 0 },
    });
  });
});
