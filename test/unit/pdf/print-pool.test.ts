import { type ChildProcess, spawn } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { type LaunchedChromium, launchChromium } from '../../../src/adapters/pdf/chromium-launcher.ts';
import { createPrintPool, type PrintPool, type PrintPoolOptions } from '../../../src/adapters/pdf/print-pool.ts';
import { RendererUnavailable } from '../../../src/domain/invoice/ports.ts';
import { FakeChromium, type FakePage } from '../../support/fake-chromium.ts';
import { hasTool } from '../../support/tools.ts';
import { CHROMIUM_CACHE, groupLives, pageCount, textOfPages, until } from './support.ts';

// What the pool does is tried with a browser of the tests; each moment at which a real one can die, in test/long.

const hasPdfToText = hasTool('pdftotext');
const page = (text: string) => `<!doctype html><p>${text}`;
const isPdf = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1', 0, 5) === '%PDF-';
const LIMITS = { size: 2, timeLimit: 60_000, maxWaiting: 100, restAfter: 600_000 };

describe('with a browser of the tests', () => {
  let fakes: FakeChromium[] = [];
  let pools: PrintPool[] = [];
  afterEach(async () => {
    await Promise.all(pools.map((pool) => pool.close()));
    fakes = [];
    pools = [];
  });

  function newPool(options: Partial<PrintPoolOptions> = {}): PrintPool {
    const launch = async () => {
      const fake = new FakeChromium();
      fakes.push(fake);
      return fake.launched();
    };
    const pool = createPrintPool(Object.assign({ launch, ...LIMITS }, options));
    pools.push(pool);
    return pool;
  }
  const textOf = (pdf: Uint8Array) => Buffer.from(pdf).toString().replace('%PDF-<!doctype html><p>', '');
  const printed = async (pool: PrintPool, text: string) => textOf(await pool.print(page(text)));
  const latest = () => fakes.at(-1) as FakeChromium;

  test('concurrent documents share the pages of one browser, and each gets its own PDF', async () => {
    const pool = newPool();
    const texts = Array.from({ length: 12 }, (_, n) => `n${n}`);
    expect(await Promise.all(texts.map((text) => printed(pool, text)))).toEqual(texts);
    expect(fakes).toHaveLength(1);
    expect(latest().pages.size).toBe(2);
  });

  test('the page of a large document is not reused', async () => {
    const pool = newPool({ size: 1 });
    await printed(pool, 'warm');
    const [first] = latest().pages.keys();
    await pool.print(page('long text '.repeat(25_000)));
    await expect.poll(() => latest().pages.size).toBe(0);
    expect(await printed(pool, 'short')).toBe('short');
    expect(latest().pages.has(first ?? '')).toBe(false);
    expect(fakes).toHaveLength(1);
  });

  test('a page is replaced after 100 documents', async () => {
    const pool = newPool({ size: 1 });
    await printed(pool, '1');
    const first = [...latest().pages.keys()];
    for (let n = 2; n <= 100; n++) await printed(pool, `${n}`);
    expect([...latest().pages.keys()]).toEqual(first);
    expect(await printed(pool, '101')).toBe('101');
    await expect.poll(() => [...latest().pages.keys()]).not.toContain(first[0]);
    expect(latest().pages.size).toBe(1);
    expect(fakes).toHaveLength(1);
  });

  test('a browser that dies between documents is replaced', async () => {
    const pool = newPool();
    await printed(pool, 'before');
    latest().kill();
    expect(await printed(pool, 'after')).toBe('after');
    expect(fakes).toHaveLength(2);
  });

  test('a page that crashed between documents is replaced, its browser stays', async () => {
    const pool = newPool();
    await printed(pool, 'warm');
    for (const each of latest().pages.values()) each.crash();
    await turn();
    expect(await printed(pool, 'after')).toBe('after');
    expect(fakes).toHaveLength(1);
  });

  const OPENING = [
    'Target.createTarget',
    'Target.attachToTarget',
    'Inspector.enable',
    'Page.enable',
    'Page.getFrameTree',
  ];
  const PRINTING = ['Page.setDocumentContent', 'Runtime.evaluate', 'Page.printToPDF', 'IO.read', 'IO.close'];
  const STEPS = [...OPENING, ...PRINTING, 'Target.closeTarget'].flatMap((method) => [
    { method, when: 'before' as const },
    { method, when: 'after' as const },
  ]);

  /** Leaves a browser whose only page is not usable, and does `harm` once at a step of the next document. */
  async function harmed(pool: PrintPool, method: string, when: string, harm: (at: FakePage | null) => void) {
    await printed(pool, 'warm');
    const [spent] = latest().pages.values();
    spent?.emit('Page.frameNavigated');
    const harming = vi.fn(harm);
    latest().onCommand = (command, moment) => {
      if (command.method === method && moment === when && harming.mock.calls.length === 0) harming(command.page);
    };
    expect(await printed(pool, 'printed')).toBe('printed');
    expect(await printed(pool, 'and the next')).toBe('and the next');
    expect(harming).toHaveBeenCalledOnce();
  }

  test.each(STEPS)(
    'a browser that dies $when $method: the document is printed by another one',
    async ({ method, when }) => {
      await harmed(newPool({ size: 1 }), method, when, () => latest().kill());
      expect(fakes).toHaveLength(2);
    },
  );

  test.each(STEPS.filter(({ method }) => !method.startsWith('Target.')))(
    'a page that crashes $when $method: the document is printed on another one',
    async ({ method, when }) => {
      await harmed(newPool({ size: 1 }), method, when, (at) => at?.crash());
      expect(fakes).toHaveLength(1);
    },
  );

  test('a document whose every page crashes is tried twice', async () => {
    const pool = newPool({ size: 1 });
    await printed(pool, 'warm');
    let asked = 0;
    latest().onCommand = ({ method, page: at }, when) => {
      if (method !== 'Page.printToPDF' || when !== 'before') return;
      asked++;
      at?.crash();
    };
    await expect(pool.print(page('bad'))).rejects.toMatchObject({ name: 'PageLost' });
    expect(asked).toBe(2);
  });

  test('idle pages that crashed unnoticed cost a document at most one attempt', async () => {
    const pool = newPool({ size: 3 });
    await Promise.all(['a', 'b', 'c'].map((text) => printed(pool, text)));
    const doomed = new Set(latest().pages.values());
    expect(doomed.size).toBe(3);
    latest().onCommand = ({ method, page: at }) => {
      if (method === 'Page.setDocumentContent' && at && doomed.has(at)) at.crash();
    };
    expect(await printed(pool, 'd')).toBe('d');
    expect(fakes).toHaveLength(1);
  });

  test('a browser that can open no page any more is replaced, once', async () => {
    const pool = newPool({ size: 4 });
    await printed(pool, 'warm');
    latest().isBroken = true;
    for (const each of latest().pages.values()) each.crash();
    const texts = Array.from({ length: 8 }, (_, n) => `n${n}`);
    expect(await Promise.all(texts.map((text) => printed(pool, text)))).toEqual(texts);
    expect(fakes).toHaveLength(2);
    expect(fakes[0]?.browser.connected).toBe(false);
  });

  test('a document that exceeds the time limit is given up, and the next one is printed', async () => {
    const pool = newPool({ size: 1, timeLimit: 20 });
    await printed(pool, 'warm');
    latest().hangs = ({ method, page: at }) => method === 'Page.printToPDF' && at?.html.includes('endless') === true;
    await expect(pool.print(page('endless'))).rejects.toMatchObject({ name: 'PrintTooSlow' });
    expect(await printed(pool, 'next')).toBe('next');
  });

  test('the queue is bounded, and rejected on close', async () => {
    const pool = newPool({ size: 1, maxWaiting: 2 });
    const prints = ['a', 'b', 'c', 'd'].map((text) => pool.print(page(text)));
    await expect(prints[3]).rejects.toMatchObject({ name: 'PrintQueueFull' });
    expect((await Promise.all(prints.slice(0, 3))).map(textOf)).toEqual(['a', 'b', 'c']);
    const waiting = [pool.print(page('e')), pool.print(page('f'))].map((each) => each.catch((error) => error));
    await pool.close();
    expect((await Promise.all(waiting))[1]).toBeInstanceOf(RendererUnavailable);
    expect(latest().browser.connected).toBe(false);
    await expect(pool.print(page('late'))).rejects.toBeInstanceOf(RendererUnavailable);
    expect(fakes).toHaveLength(1);
  });

  test('a browser without work ends, and the next document starts a new one', async () => {
    const pool = newPool({ restAfter: 20 });
    await Promise.all(['a', 'b', 'c'].map((text) => printed(pool, text)));
    await fakes[0]?.exited;
    expect(await printed(pool, 'd')).toBe('d');
    expect(fakes).toHaveLength(2);
  });
});

describe('with Chromium', () => {
  let launches: LaunchedChromium[] = [];
  /** A pool with limits that only a hanging browser exceeds. */
  function poolOptions(options: Partial<PrintPoolOptions> = {}) {
    launches = [];
    return {
      async launch() {
        const launched = await launchChromium({ cacheDir: CHROMIUM_CACHE });
        launches.push(launched);
        return launched;
      },
      ...LIMITS,
      ...options,
    };
  }
  const newPool = (options: Partial<PrintPoolOptions> = {}): PrintPool => createPrintPool(poolOptions(options));

  let pool: PrintPool;
  let server: Server;
  let address: string;
  const requests: string[] = [];
  beforeAll(async () => {
    pool = newPool();
    server = createServer((request, response) => {
      requests.push(request.url!);
      response.end('loaded');
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    await pool.close();
    server.close();
  });

  test('documents share the pages of one browser; when it is killed while it prints, they are printed again', async () => {
    const long = `<!doctype html><table>${'<tr><td>row</td></tr>'.repeat(2_000)}</table>`;
    await pool.print(page('warm'));
    const dead = launches.at(-1) as LaunchedChromium;
    const sessions = Object.getPrototypeOf(dead.control);
    const send = sessions.send;
    let asked = 0;
    const both = Promise.withResolvers<void>();
    vi.spyOn(sessions, 'send').mockImplementation(async function (this: unknown, ...sent: unknown[]) {
      if (sent[0] === 'Page.printToPDF') {
        const nth = ++asked;
        // The browser is killed while it prints two documents, not between them.
        if (nth === 1) await both.promise;
        if (nth === 2) {
          both.resolve();
          setImmediate(() => process.kill(-dead.pid, 'SIGKILL'));
        }
      }
      return send.apply(this, sent);
    });
    const pdfs = await Promise.all([pool.print(long), pool.print(long), pool.print(page('waits'))]);
    vi.restoreAllMocks();
    expect(asked).toBeGreaterThanOrEqual(5);
    expect(pdfs.every(isPdf)).toBe(true);
    expect(pageCount(pdfs[0] as Uint8Array)).toBeGreaterThan(40);
    expect(launches).toHaveLength(2);
    expect(await launches[1]?.browser.pages()).toHaveLength(2);
    await until(() => !groupLives(dead.pid));
  });

  test('load nothing from the network or from files, and run no script', async () => {
    const pdf = await pool.print(`<!doctype html><title>t</title>
      <link rel=stylesheet href="${address}/css"><link rel=prefetch href="${address}/prefetch">
      <link rel=preload as=image href="${address}/preload"><link rel=preconnect href="${address}">
      <style>@import url(${address}/import); @font-face { font-family: x; src: url(${address}/font) }
        p { background: url(${address}/background); font-family: x }</style>
      <script>document.write('scripted')</script><script src="${address}/script"></script>
      <p onclick="1">visible</p><img src="${address}/image" onerror="document.write('scripted')">
      <iframe src="${address}/frame"></iframe><iframe src="file:///etc/passwd"></iframe>
      <iframe srcdoc="<script>document.write('scripted')</script><img src='${address}/srcdoc'>"></iframe>
      <object data="${address}/object"></object><embed src="${address}/embed"><img src="file:///etc/passwd">
      <svg><image href="${address}/svg"/><use href="${address}/use#x"/></svg><video poster="${address}/poster" src="${address}/video">`);
    expect(isPdf(pdf)).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(requests).toEqual([]);
    if (!hasPdfToText) return;
    const text = textOfPages(pdf).join('');
    expect(text).toContain('visible');
    expect(text).not.toMatch(/scripted|loaded|root:/);
  });

  test('the browser exits when its parent process is killed', async () => {
    const launcher = fileURLToPath(new URL('../../../src/adapters/pdf/chromium-launcher.ts', import.meta.url));
    const script = `import { launchChromium } from ${JSON.stringify(launcher)};
      const { pid } = await launchChromium({ cacheDir: ${JSON.stringify(CHROMIUM_CACHE)} });
      console.log(pid); setInterval(() => {}, 1000);`;
    const owner: ChildProcess = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const pid = await new Promise<number>((resolve, reject) => {
      owner.stdout!.once('data', (data) => resolve(Number(String(data))));
      owner.once('exit', () => reject(new Error('no browser started')));
    });
    expect(groupLives(pid)).toBe(true);
    owner.kill('SIGKILL');
    await until(() => !groupLives(pid));
  });
});
