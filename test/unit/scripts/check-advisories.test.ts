import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Accepted, type Advisory, audit, judge } from '../../../scripts/check-advisories.ts';

const ADVISORY: Advisory = {
  id: 'GHSA-aaaa-bbbb-cccc',
  package: 'left',
  severity: 'high',
  title: 'It can be stopped',
  devOnly: false,
};
const ACCEPTED: Accepted = {
  id: ADVISORY.id,
  package: 'left',
  until: '2026-12-31',
  reason: 'The function is not called by this service.',
};
const today = '2026-11-24';

describe('npm audit with a registry', () => {
  let folder: string;
  let registry: Server;
  let options: string[];
  let bulk: (body: string) => { status: number; json: unknown };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'advisories-'));
    const dependencies = { left: '1.0.0' };
    const devDependencies = { tool: '1.0.0' };
    const manifest = { name: 'project', version: '1.0.0', dependencies, devDependencies };
    const packages = {
      '': manifest,
      'node_modules/left': { version: '1.0.0' },
      'node_modules/tool': { version: '1.0.0', dev: true },
    };
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
    writeFileSync(
      join(folder, 'package-lock.json'),
      JSON.stringify({ name: 'project', version: '1.0.0', lockfileVersion: 3, packages }),
    );
    registry = createServer(async (request, response) => {
      const body = Buffer.concat(await Array.fromAsync(request));
      const name = request.url?.slice(1) ?? '';
      const versions = { '1.0.0': { name, version: '1.0.0' }, '1.0.1': { name, version: '1.0.1' } };
      const { status, json } =
        request.method === 'POST'
          ? bulk(body.toString('latin1'))
          : { status: 200, json: { name, 'dist-tags': { latest: '1.0.1' }, versions } };
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
    });
    await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve));
    const { port } = registry.address() as AddressInfo;
    options = [`--registry=http://127.0.0.1:${port}`, `--cache=${join(folder, 'cache')}`, '--fetch-retries=0'];
  });
  afterAll(() => {
    registry.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('finds what concerns the locked packages, and which are for development only', async () => {
    const about = (id: number, ghsa: string) => ({
      id,
      url: `https://github.com/advisories/${ghsa}`,
      title: 'It can be stopped',
      severity: 'high',
      vulnerable_versions: '<1.0.1',
      cwe: [],
      cvss: { score: 0, vectorString: null },
    });
    bulk = () => ({ status: 200, json: { left: [about(1, ADVISORY.id)], tool: [about(2, 'GHSA-dddd-eeee-ffff')] } });
    const found = await audit(folder, options);
    expect(found).toEqual({
      advisories: expect.arrayContaining([
        ADVISORY,
        { ...ADVISORY, id: 'GHSA-dddd-eeee-ffff', package: 'tool', devOnly: true },
      ]),
    });
    expect(judge(found, [], today)).toEqual({
      problems: ['GHSA-aaaa-bbbb-cccc (high) of left: It can be stopped'],
      notes: ['warning: for development only: GHSA-dddd-eeee-ffff (high) of tool: It can be stopped'],
    });
  });

  it('finds nothing where there is nothing, and says so where the registry refuses', async () => {
    bulk = () => ({ status: 200, json: {} });
    expect(judge(await audit(folder, options), [], today)).toEqual({
      problems: [],
      notes: ['no advisory concerns the locked packages'],
    });
    bulk = () => ({ status: 405, json: {} });
    const refused = judge(await audit(folder, options), [], today);
    expect(refused.problems).toEqual([]);
    expect(refused.notes).toEqual([
      expect.stringContaining('warning: advisories were not checked, because the registry does not answer: 405'),
    ]);
  });
});

describe('an accepted advisory', () => {
  const found = { advisories: [ADVISORY] };

  it('is no problem until its day, and only for its package', () => {
    expect(judge(found, [ACCEPTED], today).problems).toEqual([]);
    expect(judge(found, [ACCEPTED], '2027-01-01').problems).toEqual([
      `${ADVISORY.id} of left was accepted until 2026-12-31: look at it again`,
    ]);
    expect(judge(found, [{ ...ACCEPTED, package: 'right' }], today).problems).toHaveLength(1);
  });

  it('has a reason, also when the registry does not answer', () => {
    expect(judge({ unanswered: '405' }, [{ ...ACCEPTED, reason: 'fine' }], today).problems).toEqual([
      `${ADVISORY.id} of left is accepted without a reason`,
    ]);
  });

  it('is told of when it concerns nothing any more', () => {
    expect(judge({ advisories: [] }, [ACCEPTED], today).notes).toContain(
      `warning: ${ADVISORY.id} of left is accepted and concerns nothing any more`,
    );
  });
});
