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
        path,
        200,
        'public, max-age=31536000, immutable',
      ]);
    }
  });

  it.each([
    '/docs/nothing',
    '/docs/assets/../manifest.json',
    '/docs/manifest.json',
    '/docs/not-found-en',
    '/docs/nothing/',
    '/docs//nothing.example/',
  ])('%s is not found: people get a page, programs that ask for it JSON', async (path) => {
    const page = await get(path, { Accept: 'text/html,*/*;q=0.8' });
    expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(page.headers.get('vary')).toMatch(/Accept\b.*Accept-Language/);
    const text = await page.text();
    expect(text).toContain('<h1>Page not found</h1>');
    expect(text).toMatch(/<article>.*class="find".*href="\/docs"/s);
    const object = await get(path, { Accept: 'application/json' });
    expect([object.status, (await object.json()).error.code]).toEqual([404, 'resource_not_found']);
  });

  it.each(['/docs/%2e%2e/manifest.json', '/docs%2fmanifest.json'])('%s is not found', async (path) => {
    expect((await get(path)).status).toBe(404);
  });

  it.each([
    ['/docs/fr/nothing', 'en'],
    ['/docs/nothing', 'fr-MA, ar;q=0.8, en;q=0.5'],
  ])('%s is not found in French by who reads it or %s', async (path, languages) => {
    const text = await (await get(path, { 'Accept-Language': languages })).text();
    expect(text).toContain('<h1>Page introuvable</h1>');
    expect(text).toContain('href="/docs/fr/quick-start"');
  });

  it.each(['/docs', '/docs/fr', '/docs/quick-start', '/docs/fr/errors/amount_mismatch', '/docs/interactive'])(
    '%s/ leads to where it is',
    async (path) => {
      const answer = await fetch(`${service.url}${path}/?a=b`, { redirect: 'manual' });
      expect([answer.status, answer.headers.get('location')]).toEqual([301, `${path}?a=b`]);
    },
  );
});
