import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import MiniSearch from 'minisearch';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildDocs } from '../../scripts/build-docs.ts';
import { ERROR_CODES, rowOfError } from '../../src/domain/error-codes.ts';
import { INVOICE_WARNINGS } from '../../src/domain/invoice/invoice-warnings.ts';
import { MAGIC_ICES } from '../../src/domain/invoice/test-scenarios.ts';
import { SEARCH_OPTIONS } from '../../src/transport/docs/site/search-options.ts';

// The documentation as it is built (scripts/build-docs.ts).

const root = fileURLToPath(new URL('../..', import.meta.url));
const built = (file: string) => readFileSync(`${root}/dist/docs/${file}`, 'utf8');
let entries: Readonly<Record<string, { readonly file: string; readonly type: string }>>;
/** The HTML of each page by its address. */
let pages: ReadonlyMap<string, string>;

beforeAll(async () => {
  await buildDocs(root);
  entries = JSON.parse(built('manifest.json'));
  pages = new Map(
    Object.entries(entries).flatMap(([address, { file, type }]) =>
      type === 'text/html' && address.startsWith('/') ? [[address, built(file)]] : [],
    ),
  );
});

const linksIn = (page: string) =>
  [...page.matchAll(/(?:href|src|data-search)="([^"]+)"/g)].map(([, link = '']) => link);
const idsIn = (page: string) => new Set([...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));

describe('the built documentation', () => {
  it('has a page for each guide, each client and each error code', () => {
    const guides = readdirSync(`${root}/docs/api`).map((name) => `/docs/${name.replace(/\.md$/, '')}`);
    const clients = ['typescript', 'python', 'php', 'java', 'go', 'cli', 'live', 'collections'].map(
      (name) => `/docs/clients/${name}`,
    );
    const errors = ERROR_CODES.map((code) => `/docs/errors/${code}`);
    const others = ['', '/webhooks', '/live-pages', '/corrections-for-accountants', '/warnings', '/changelog'];
    const references = ['/docs/reference/invoices', '/docs/reference/webhook-endpoints'];
    const expected = [...guides, ...clients, ...errors, ...references, ...others.map((each) => `/docs${each}`)];
    expect([...pages.keys()]).toEqual(expect.arrayContaining(expected));
  });

  it('leads nowhere in vain: each link of a page, anchors included, has its target', () => {
    // Served by others.
    const elsewhere = ['/docs/interactive', '/graphql', '/v1/openapi.json'];
    const missing = ['en', 'fr'].map((language) => {
      const name = `not-found-${language}`;
      return [name, built(entries[name]?.file ?? '')] as const;
    });
    const all = new Map([...pages, ...missing]);
    const wrong = [...all].flatMap(([address, page]) =>
      linksIn(page).flatMap((link) => {
        if (/^[a-z]+:/.test(link) || elsewhere.includes(link)) return [];
        const [path = '', anchor] = link.split('#');
        const target = path === '' ? address : path;
        const isThere = Object.hasOwn(entries, target);
        const hasAnchor = anchor === undefined || idsIn(all.get(target) ?? '').has(anchor);
        return isThere && hasAnchor ? [] : [`${address}: ${link}`];
      }),
    );
    expect(wrong).toEqual([]);
  });

  it('has each page as Markdown, too, whose links lead to Markdown', () => {
    const wrong = [...pages].flatMap(([address, page]) => {
      const [, markdown = ''] = /type="text\/markdown" href="([^"]+)"/.exec(page) ?? [];
      const text = entries[markdown] ? built(entries[markdown].file) : '';
      const links = [...text.matchAll(/\]\((\/docs\/[^)#]+)[^)]*\)/g)].map(([, link = '']) => link);
      const broken = links.filter((link) => !Object.hasOwn(entries, link) && link !== '/docs/interactive');
      return text.startsWith('# ') && broken.length === 0 ? [] : [`${address}: ${broken}`];
    });
    expect(wrong).toEqual([]);
  });

  it('/llms.txt lists every page in English once', () => {
    const listed = [...built('llms.txt').matchAll(/\]\((\/docs[^)]+)\)/g)].map(([, link]) => link);
    const english = [...pages.keys()].filter((address) => !/^\/docs\/fr(\/|$)/.test(address));
    expect(listed.toSorted()).toEqual(
      english.map((each) => `${each === '/docs' ? '/docs/index' : each}.md`).toSorted(),
    );
  });

  it('is within its sizes: the first page with all its files 100 kB, each page 150 kB, an index 400 kB', () => {
    const first = pages.get('/docs') ?? '';
    const files = linksIn(first).filter((link) => /\/assets\/.*\.(?:js|css|svg)$/.test(link));
    expect(files).toHaveLength(3);
    const sizes = files.map((link) => Buffer.byteLength(built(entries[link]?.file ?? '')));
    expect(sizes.reduce((sum, size) => sum + size, Buffer.byteLength(first))).toBeLessThan(100_000);
    for (const [address, page] of pages) expect([address, Buffer.byteLength(page) < 150_000]).toEqual([address, true]);
    for (const [address, { file }] of Object.entries(entries))
      if (/search-\w\w-/.test(address)) expect(Buffer.byteLength(built(file))).toBeLessThan(400_000);
  });

  it('the search in French finds every page: in French, or in English where there is no other', () => {
    const find = (language: string, words: string) => {
      const file = Object.keys(entries).find((address) => address.includes(`/search-${language}-`)) ?? '';
      return MiniSearch.loadJSON(built(entries[file]?.file ?? ''), SEARCH_OPTIONS).search(words, {
        combineWith: 'AND',
      });
    };
    for (const words of ['mcp', 'npx fatoura', 'TypeScript', 'createWebhookEndpoint']) {
      const found = find('fr', words);
      expect([words, found.length > 0]).toEqual([words, true]);
      for (const { id, language } of found) expect([id, language === undefined]).toEqual([id, /^\/docs\/fr/.test(id)]);
    }
    expect(find('en', 'idempotency').every(({ id }) => !id.startsWith('/docs/fr'))).toBe(true);
    // A page that is in French, too, is found once.
    expect(find('fr', 'amount_mismatch').filter(({ id }) => /errors\/amount_mismatch$/.test(id))).toHaveLength(1);
  });

  it('has no inline script or style, which the policy would refuse', () => {
    const wrong = [...pages].filter(([, page]) =>
      /<script(?![^>]* src=)|<style| style=|\son\w+=/.test(page.replaceAll(/<pre.*?<\/pre>/gs, '')),
    );
    expect(wrong.map(([address]) => address)).toEqual([]);
  });

  it('states the cause and the cure of each error, and each warning', () => {
    const plain = (page: string) =>
      page
        .replaceAll(/<[^>]+>/g, '')
        .replaceAll('&#39;', "'")
        .replaceAll('&quot;', '"')
        .replaceAll('&gt;', '>')
        .replaceAll('&lt;', '<')
        .replaceAll('&amp;', '&');
    for (const code of ERROR_CODES) {
      const page = plain(pages.get(`/docs/errors/${code}`) ?? '');
      const { description, remedy } = rowOfError(code);
      expect(page).toContain(description.replaceAll('`', ''));
      expect(page).toContain(remedy.replaceAll('`', ''));
      expect(pages.get('/docs/errors')).toContain(`href="/docs/errors/${code}"`);
    }
    for (const code of Object.keys(INVOICE_WARNINGS))
      expect(pages.get('/docs/warnings')).toContain(`<code>${code}</code>`);
  });

  it('shows each operation in curl and the five clients', () => {
    const document = JSON.parse(readFileSync(`${root}/openapi.json`, 'utf8')) as {
      readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>;
    };
    const operations = Object.values(document.paths).flatMap((each) => Object.values(each));
    const references = [...pages]
      .filter(([address]) => /^\/docs\/reference\/(?!graphql)/.test(address))
      .map(([, page]) => page);
    const groups = references.flatMap((page) =>
      [...page.matchAll(/<div class="examples">.*?<\/div>/gs)].map(([group]) => group),
    );
    // One on each page says how the examples begin.
    expect(groups).toHaveLength(operations.length + references.length);
    for (const group of groups)
      expect([...group.matchAll(/data-title="([^"]+)"/g)].map(([, title]) => title)).toEqual([
        'curl',
        'TypeScript',
        'Python',
        'PHP',
        'Java',
        'Go',
      ]);
  });

  it('shows each operation of GraphQL with its arguments', () => {
    const { Query, Mutation, Subscription } = Object.fromEntries(
      [
        ...readFileSync(`${root}/schema.graphql`, 'utf8').matchAll(
          /^type (Query|Mutation|Subscription) \{\n(.*?)^\}/gms,
        ),
      ].map(([, name = '', body = '']) => [name, [...body.matchAll(/^ {2}(\w+)[(:]/gm)].map(([, field]) => field)]),
    ) as Record<string, string[]>;
    for (const [kind, names = []] of [
      ['queries', Query],
      ['mutations', Mutation],
      ['subscriptions', Subscription],
    ] as const) {
      const page = pages.get(`/docs/reference/graphql-${kind}`) ?? '';
      const shown = [...page.matchAll(/<h2 id="[^"]+">(\w+) /g)].map(([, name]) => name);
      expect([kind, shown.toSorted()]).toEqual([kind, names.toSorted()]);
      expect(names.length).toBeGreaterThan(0);
    }
    expect(pages.get('/docs/reference/graphql-mutations')).toContain('<code>input.amount</code>');
  });

  it('lists the customers of the test environment that the service knows', () => {
    const listed = pages.get('/docs/test-environment')?.match(/\b9990\d{11}\b/g);
    expect(listed).toEqual(Object.keys(MAGIC_ICES));
  });

  it('has each guide in French, with the parts, tables and code of the English one', () => {
    const ENGLISH_ONLY = /^\/docs\/(?:clients|reference)\/|^\/docs\/(?:contract|rules|warnings|changelog)$/;
    const guides = [...pages.keys()].filter((each) => !/^\/docs\/fr(\/|$)/.test(each) && !ENGLISH_ONLY.test(each));
    const partsOf = (address: string) => {
      const page = /<article>(.*)<\/article>/s.exec(pages.get(address) ?? '')?.[1] ?? '';
      const count = (pattern: RegExp) => page.match(pattern)?.length ?? 0;
      const code = [...page.matchAll(/<pre.*?<\/pre>/gs)].map(([block]) => block.replace(/^<pre[^>]*>/, ''));
      return [count(/<h2/g), count(/<h3/g), count(/<p>/g), count(/<tr>/g), count(/<li>/g), code];
    };
    const differing = guides.filter(
      (each) => JSON.stringify(partsOf(each.replace('/docs', '/docs/fr'))) !== JSON.stringify(partsOf(each)),
    );
    expect(differing).toEqual([]);
    expect(guides.length).toBeGreaterThan(50);
  });

  it('has the typography of French, and its words of the glossary', () => {
    const glossary = readFileSync(`${root}/src/dashboard/text/glossary.md`, 'utf8');
    const rows = glossary.split('\n').filter((line) => line.startsWith('| ') && line.endsWith(' |'));
    const refused = rows.flatMap((row) => row.split('|')[5]?.split(',') ?? []).map((word) => word.trim());
    const words = refused.filter((word) => /^\p{Script=Latin}{4,}/u.test(word));
    expect(words).toContain('récépissé');
    const french = [...pages].filter(([address]) => /^\/docs\/fr(\/|$)/.test(address));
    const wrong = french.flatMap(([address, page]) => {
      const article = /<article>(.*)<\/article>/s.exec(page)?.[1] ?? '';
      const text = article
        .replaceAll(/<pre.*?<\/pre>|<code>.*?<\/code>/gs, 'x')
        .replaceAll(/<[^>]+>/g, '')
        .replaceAll('&#39;', "'");
      const spaces = text.match(/[^\n]{0,20} [:;!?»%](?=\s)|« [^\n]{0,10}|[a-zé][;!?»][^\n]{0,10}/g) ?? [];
      const straight = text.match(/\p{L}'\p{L}+/gu) ?? [];
      const used = words.filter((word) => new RegExp(`(?<!\\p{L})${word}(?!\\p{L})`, 'u').test(text));
      return [...spaces, ...straight, ...used].map((each) => `${address}: ${each}`);
    });
    expect(wrong).toEqual([]);
  });

  it('names the target of a link that it has no page of, instead of linking it', () => {
    expect(pages.get('/docs/going-live')).toMatch(/Operations \(<code>docs\/operations\.md<\/code>\)/);
  });
});
