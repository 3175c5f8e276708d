import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'puppeteer-core';
import { afterAll, describe, expect, it } from 'vitest';
import { buildDashboard } from '../../scripts/build-dashboard.ts';
import { BROWSER_PATH } from '../support/browser.ts';
import { Client, invoiceFor } from '../support/client.ts';
import { examplesRunBy } from '../support/guide-examples.ts';
import { holdDecision, SLOW_CUSTOMER } from '../support/held-decision.ts';
import { type TestService, withSharedService } from '../support/service.ts';
import { withSharedBrowser } from '../support/shared-browser.ts';

if (BROWSER_PATH === null) console.warn('skipped: no Chromium for tests of pages (Debian: apt-get install chromium)');

// The code of docs/live-pages.md that imports packages, bundled as it stands, in a page of another origin. Its code
// without GraphQL and its resumption are tried in live-invoice.test.ts, its element in live-element.test.ts. And the
// view of one's own of clients/live/README.md.

const root = fileURLToPath(new URL('../..', import.meta.url));
const examples = examplesRunBy('test/browser/live-libraries.test.ts');
const [OWN_VIEW, ...others] = examples.filter(({ guide }) => guide === 'clients/live/README.md');
/** The package whose client the page is about, and the example. */
const LIBRARIES = examples
  .filter(({ guide }) => guide === 'docs/live-pages.md')
  .map(({ text }) => [/from '(?!graphql'|graphql-sse')([^']+)'/.exec(text)?.[1] ?? 'graphql-sse', text] as const);

describe.skipIf(BROWSER_PATH === null)('the libraries of the guide to live pages, in a browser', () => {
  // Within the project, so that its packages are found.
  const folder = join(root, 'node_modules/.cache', `live-libraries-${process.pid}`);
  let service: TestService;
  let browser: Browser;
  let shop: Server;
  let script = '';

  withSharedBrowser.beforeAll(({ browser: shared }) => {
    browser = shared;
  });
  withSharedService.beforeAll(async ({ service: shared }) => {
    service = shared;
    await buildDashboard(root);
    mkdirSync(folder, { recursive: true });
    shop = createServer(({ url }, response) => {
      const isScript = url === '/page.js';
      response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html; charset=utf-8');
      const policy = `default-src 'none'; script-src 'self' ${service.url}; connect-src ${service.url}`;
      response.setHeader('Content-Security-Policy', policy);
      const page = '<!doctype html><title>x</title><ol></ol><script type="module" src="/page.js"></script>';
      response.end(isScript ? script : page);
    });
    await new Promise<void>((done) => void shop.listen(0, '127.0.0.1', done));
  });
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
    shop.close();
    shop.closeAllConnections();
  });

  /** The example as one script, for an invoice. */
  async function bundled(code: string, id: string, secret: string): Promise<string> {
    const page = `const invoiceId = ${JSON.stringify(id)}, clientSecret = ${JSON.stringify(secret)};
      const show = (text) => document.querySelector('ol').append(Object.assign(document.createElement('li'), { textContent: text }));`;
    const [imports = '', rest = ''] = code.split(/\n\n(.*)/s);
    writeFileSync(
      join(folder, 'page.js'),
      `${imports}\n${page}\n${rest.replaceAll('https://invoices.example', service.url)}`,
    );
    const { build } = await import('vite');
    const result = await build({
      configFile: false,
      root: folder,
      logLevel: 'error',
      define: { 'process.env.NODE_ENV': '"production"' },
      build: { write: false, lib: { entry: join(folder, 'page.js'), formats: ['iife'], name: 'page' } },
    });
    const [output] = [result].flat();
    return output && 'output' in output ? output.output[0].code : '';
  }

  /** Opens the shop's page for an invoice that is not decided yet. @param make the script of an invoice */
  async function open(make: (id: string, secret: string) => Promise<string>) {
    const { secretKey } = await service.tenant();
    const client = new Client(service.url, secretKey);
    const { id, client_secret: secret } = (await client.post('/v1/invoices', invoiceFor(SLOW_CUSTOMER))).body;
    const decide = await holdDecision(service, id);
    script = await make(id, secret);
    const page = await (await browser.createBrowserContext()).newPage();
    const [complaints, logged]: [string[], string[]] = [[], []];
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => (message.type() === 'error' ? complaints : logged).push(message.text()));
    await page.goto(`http://127.0.0.1:${(shop.address() as AddressInfo).port}/`);
    return { decide, page, complaints, logged };
  }

  it('are graphql-sse, urql and Apollo Client, beside the README of the element', () => {
    expect(LIBRARIES.map(([name]) => name)).toEqual(['graphql-sse', '@urql/core', '@apollo/client']);
    expect([OWN_VIEW?.guide, others, examples.length]).toEqual(['clients/live/README.md', [], LIBRARIES.length + 1]);
  });

  it('the README of the element follows an invoice to its end', async () => {
    const example = OWN_VIEW?.text ?? '';
    const { decide, page, complaints, logged } = await open(async (_id, secret) =>
      example.replace('https://invoices.example', service.url).replace('(clientSecret)', `(${JSON.stringify(secret)})`),
    );
    await expect.poll(() => logged[0]).toMatch(/^(?:signing|transmitted)$/);
    await decide();
    await expect.poll(() => logged.at(-1)).toBe('accepted');
    expect(complaints.filter((each) => !/favicon/.test(each))).toEqual([]);
    await page.browserContext().close();
  });

  it.each(LIBRARIES)('%s follows an invoice to its end', async (_name, code) => {
    const { decide, page, complaints } = await open((id, secret) => bundled(code, id, secret));
    const shown = () => page.$$eval('li', (all) => all.map(({ textContent }) => textContent));
    await expect.poll(async () => (await shown())[0]).toMatch(/^(?:signing|transmitted)$/);
    await decide();
    await expect.poll(shown).toContain('accepted');
    expect(complaints.filter((each) => !/favicon/.test(each))).toEqual([]);
    await page.browserContext().close();
  });
});
