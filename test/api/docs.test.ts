import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { buildDocs } from '../../scripts/build-docs.ts';
import { type TestService, withSharedService } from '../support/service.ts';

describe('/docs', () => {
  let service: TestService;
  withSharedService.beforeAll(async ({ service: shared }) => {
    service = shared;
    await buildDocs(fileURLToPath(new URL('../..', import.meta.url)));
  });
  const get = (path: string, headers: Record<string, string> = {}) => fetch(service.url + path, { headers });

  it.each([
    ['/docs', 'text/html; charset=utf-8', '<h1'],
    ['/docs/quick-start', 'text/html; charset=utf-8', '<h1'],
    ['/docs/errors/amount_mismatch', 'text/html; charset=utf-8', 'amount_mismatch'],
    ['/docs/index.md', 'text/markdown; charset=utf-8', '# Fatoura'],
    ['/docs/quick-start.md', 'text/markdown; charset=utf-8', '# Quick start'],
    ['/llms.txt', 'text/plain; charset=utf-8', '# Fatoura'],
    ['/docs/interactive', 'text/html; charset=utf-8', 'swagger-ui'],
  ])('%s is %s, and a 304 to who knows it', async (path, type, part) => {
    const answer = await get(path);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, type]);
    expect(answer.headers.get('cache-control')).toBe('no-cache');
    expect(await answer.text()).toContain(part);
    const again = await get(path, { 'If-None-Match': answer.headers.get('etag') ?? '' });
    expect([again.status, await again.text()]).toEqual([304, '']);
  });

  it('allows what is of this origin only, and no text as HTML', async () => {
    const policy = (await get('/docs')).headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("require-trusted-types-for 'script'; trusted-types 'none'");
    expect(policy).not.toMatch(/unsafe|data:|https?:|\*/);
  });

  it('serves scripts, style and indexes for good, under names with their digests', async () => {
    const page = await (await get('/docs')).text();
    const assets = [...page.matchAll(/"(\/docs\/assets\/[^"]+)"/g)].map(([, path = '']) => path);
    expect(assets.map((path) => path.replace(/-[\w-]{8}\./, '.')).toSorted()).toEqual([
      '/docs/assets/icon.svg',
      '/docs/assets/search-en.json',
      '/docs/assets/site.js',
      '/docs/assets/style.css',
    ]);
    for (const path of assets) {
      const answer = await get(path);
      expect([path, answer.status, answer.headers.get('cache-control')]).toEqual([
        ...[path, 200, 'public, max-age=31536000, immutable'],
      ]);
    }
  });

  it.each([
    '/docs/nothing',
    '/docs/assets/../manifest.json',
    '/docs/manifest.json',
    '/docs/%2e%2e/manifest.json',
    '/docs/',
  ])('%s is not found', async (path) => {
    expect((await get(path)).status).toBe(404);
  });
});
