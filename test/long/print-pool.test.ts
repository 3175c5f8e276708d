import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { CDPSession } from 'puppeteer-core';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { processes } from '../../scripts/bench/process-tree.ts';
import { type LaunchedChromium, launchChromium } from '../../src/adapters/pdf/chromium-launcher.ts';
import { createPrintPool, type PrintPool, type PrintPoolOptions } from '../../src/adapters/pdf/print-pool.ts';
import { RendererUnavailable } from '../../src/domain/invoice/ports.ts';
import { hasTool } from '../support/tools.ts';
import { CHROMIUM_CACHE, groupLives, pageCount, textOfPages, until } from '../unit/pdf/support.ts';

const hasPdfToText = hasTool('pdftotext');

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
    size: 2,
    timeLimit: 60_000,
    maxWaiting: 100,
    restAfter: 600_000,
    ...options,
  };
}
const newPool = (options: Partial<PrintPoolOptions> = {}): PrintPool => createPrintPool(poolOptions(options));
const page = (text: string) => `<!doctype html><p>${text}`;
const isPdf = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1', 0, 5) === '%PDF-';

/** The helper processes of this type in a browser's process group; those that have ended have no command line. */
function helpersOf(leader: number, type: string): number[] {
  const isOfType = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`--type=${type}`);
  return processes().flatMap(({ pid, group }) => {
    try {
      return group === leader && isOfType(pid) ? [pid] : [];
    } catch {
      // It has ended since.
      return [];
    }
  });
}

describe('printing', () => {
  let pool: PrintPool;
  beforeAll(() => {
    pool = newPool();
  });
  afterAll(() => pool.close());

  test('concurrent documents share the pages of one browser', async () => {
    const pdfs = await Promise.all(Array.from({ length: 12 }, (_, index) => pool.print(page(`n${index}`))));
    expect(pdfs.every((pdf) => isPdf(pdf) && pageCount(pdf) === 1)).toBe(true);
    expect(launches).toHaveLength(1);
    expect(await launches[0]!.browser.pages()).toHaveLength(2);
    if (hasPdfToText) expect(pdfs.map((pdf) => textOfPages(pdf)[0]!.trim())).toEqual(pdfs.map((_, n) => `n${n}`));
  });

  test('the page of a large document is not reused, because it would keep the memory', async () => {
    const open = async () => (await launches[0]!.browser.pages()).length;
    await pool.print(page('warm'));
    const before = await open();
    expect(isPdf(await pool.print(page('long text '.repeat(25_000))))).toBe(true);
    await expect.poll(open).toBe(before - 1);
    expect(isPdf(await pool.print(page('short')))).toBe(true);
    expect(launches).toHaveLength(1);
  });

  test('a browser that dies between documents is replaced', async () => {
    await pool.print(page('before'));
    const dead = launches.at(-1)!;
    expect(groupLives(dead.pid)).toBe(true);
    process.kill(dead.pid, 'SIGKILL');
    expect(isPdf(await pool.print(page('after')))).toBe(true);
    expect(launches.at(-1)!.pid).not.toBe(dead.pid);
    await until(() => !groupLives(dead.pid));
  });

  test('a browser that dies while it prints is replaced and its documents are printed again', async () => {
    await pool.print(page('warm'));
    const dead = launches.at(-1)!;
    const long = `<!doctype html><table>${'<tr><td>row</td></tr>'.repeat(5_000)}</table>`;
    const sessions = Object.getPrototypeOf(dead.control);
    const send = sessions.send;
    let asked = 0;
    vi.spyOn(sessions, 'send').mockImplementation(function (this: unknown, ...sent: unknown[]) {
      const answer = send.apply(this, sent);
      if (sent[0] === 'Page.printToPDF' && ++asked === 2) process.kill(-dead.pid, 'SIGKILL');
      return answer;
    });
    const pdfs = await Promise.all([pool.print(long), pool.print(long), pool.print(page('waits'))]);
    vi.restoreAllMocks();
    expect(asked).toBeGreaterThanOrEqual(5);
    expect(pdfs.every(isPdf)).toBe(true);
    expect(pageCount(pdfs[0]!)).toBeGreaterThan(50);
    expect(launches.at(-1)!.pid).not.toBe(dead.pid);
  });

  test('a page that crashes is replaced, its browser stays', async () => {
    await pool.print(page('warm'));
    const { browser, pid } = launches.at(-1)!;
    for (const each of await browser.pages()) {
      const session = await each.createCDPSession();
      const crashed = new Promise((resolve) => session.once('Inspector.targetCrashed', resolve));
      // The command returns before the page crashes, and Chromium itself may exit when a page crashes while a print
      // starts.
      await each.goto('chrome://crash').catch(() => {});
      await crashed;
    }
    expect(isPdf(await pool.print(page('after')))).toBe(true);
    expect(launches.at(-1)!.pid).toBe(pid);
  });
});

describe('the death of a page or browser is noticed at once, and its document printed again', () => {
  // No time limit helps here: a document that exceeds one is refused, not printed again.
  let pool: PrintPool;
  beforeAll(() => {
    pool = newPool({ size: 1 });
  });
  afterEach(() => vi.restoreAllMocks());
  afterAll(() => pool.close());

  /** Does `harm` once, right before the first (or right after the answer to the first) command `method` to any page. */
  function harmAt(method: string, when: 'before' | 'after', harm: (session: CDPSession) => unknown) {
    const sessions = Object.getPrototypeOf(launches.at(-1)!.control);
    const send = sessions.send;
    let harmed = false;
    vi.spyOn(sessions, 'send').mockImplementation(function (this: unknown, ...sent: unknown[]) {
      if (isWithheld(this as CDPSession, sent[0])) return never;
      const hit = sent[0] === method && !harmed;
      if (!hit) return send.apply(this, sent);
      harmed = true;
      if (when === 'before') harm(this as CDPSession);
      const answer = send.apply(this, sent);
      return when === 'before' ? answer : answer.finally(() => harm(this as CDPSession));
    });
    return () => harmed;
  }
  const kill = () => process.kill(-launches.at(-1)!.pid, 'SIGKILL');
  const crash = (session: CDPSession) => void session.send('Page.crash').catch(() => {});
  /**
   * Steps at which the page crashes with a delay. Chromium itself may exit when it is asked to print meanwhile, so the
   * print command is silently dropped; only the crash event then tells of the crash.
   */
  const crashing = new WeakSet<CDPSession>();
  function crashUnprinted(session: CDPSession) {
    crashing.add(session);
    crash(session);
  }
  const isWithheld = (session: CDPSession, method: unknown) => method === 'Page.printToPDF' && crashing.has(session);
  const never = new Promise<never>(() => {});
  /** Leaves a browser whose only page is not usable, so that the next document needs a new one. */
  async function spendPage() {
    await pool.print(page('warm'));
    const { browser } = launches.at(-1)!;
    // Pages of the previous test may still be closing.
    await until(() => browser.targets().filter((target) => target.type() === 'page').length === 1);
    const [spent] = await browser.pages();
    await spent!.goto('about:blank?navigated');
  }

  const OPENING = ['Target.createTarget', 'Page.enable', 'Page.getFrameTree'];
  const PRINTING = ['Page.setDocumentContent', 'Runtime.evaluate', 'Page.printToPDF', 'IO.read'];
  const CLOSING = ['Target.closeTarget'];
  const STEPS = [...OPENING, ...PRINTING, ...CLOSING].flatMap((method) => [
    { method, when: 'before' as const },
    { method, when: 'after' as const },
  ]);

  /**
   * In these cases Chromium itself may exit with its page, by a failed internal check (SIGTRAP). It is then replaced.
   */
  const askedToPrint = (method: string, when: string) =>
    (method === 'Runtime.evaluate' && when === 'after') || (method === 'Page.printToPDF' && when === 'before');

  test.each(STEPS)('a browser that dies $when $method', async ({ method, when }) => {
    await spendPage();
    const { pid } = launches.at(-1)!;
    const harmed = harmAt(method, when, kill);
    expect(isPdf(await pool.print(page('printed')))).toBe(true);
    expect(isPdf(await pool.print(page('and the next')))).toBe(true);
    expect(harmed()).toBe(true);
    expect(launches.at(-1)!.pid).not.toBe(pid);
  });

  test.each(STEPS.filter(({ method }) => !method.startsWith('Target.')))(
    'a page that crashes $when $method',
    async ({ method, when }) => {
      await spendPage();
      const { pid } = launches.at(-1)!;
      const harmed = harmAt(method, when, askedToPrint(method, when) ? crash : crashUnprinted);
      expect(isPdf(await pool.print(page('printed')))).toBe(true);
      expect(isPdf(await pool.print(page('and the next')))).toBe(true);
      expect(harmed()).toBe(true);
      if (!askedToPrint(method, when)) expect(launches.at(-1)!.pid).toBe(pid);
    },
  );

  test('idle pages that crashed unnoticed cost a document at most one attempt', async () => {
    const wide = newPool({ size: 3 });
    try {
      const { control, pid } = await wide.browser();
      const sessions = Object.getPrototypeOf(control);
      const send = sessions.send;
      const doomed = new Set<CDPSession>();
      let warm = false;
      vi.spyOn(sessions, 'send').mockImplementation(function (this: unknown, ...sent: unknown[]) {
        const session = this as CDPSession;
        if (sent[0] === 'Page.setDocumentContent') {
          if (!warm) doomed.add(session);
          else if (doomed.has(session)) crashUnprinted(session);
        }
        return isWithheld(session, sent[0]) ? never : send.apply(session, sent);
      });
      await Promise.all(['a', 'b', 'c'].map((text) => wide.print(page(text))));
      expect(doomed.size).toBe(3);
      warm = true;
      expect(isPdf(await wide.print(page('d')))).toBe(true);
      expect(launches.at(-1)!.pid).toBe(pid);
    } finally {
      await wide.close();
    }
  });
});

describe('limits', () => {
  test.skipIf(process.platform !== 'linux')('a browser that can open no page any more is replaced, once', async () => {
    const pool = newPool({ size: 4 });
    try {
      await pool.print(page('warm'));
      const [broken] = launches;
      // The processes that start renderers, and then the renderers: the browser itself lives on, and is connected.
      for (const type of ['zygote', 'renderer'])
        for (const pid of helpersOf(broken!.pid, type)) process.kill(pid, 'SIGKILL');
      await until(() => helpersOf(broken!.pid, 'renderer').length === 0);
      const pdfs = await Promise.all(Array.from({ length: 8 }, (_, n) => pool.print(page(`n${n}`))));
      expect(pdfs.every(isPdf)).toBe(true);
      expect(launches).toHaveLength(2);
      await until(() => !groupLives(broken!.pid));
    } finally {
      await pool.close();
    }
    await until(() => !launches.some(({ pid }) => groupLives(pid)));
  });

  test('a page is replaced after 100 documents', async () => {
    const pool = newPool({ size: 1 });
    const pagesOf = async () =>
      (await launches[0]!.control.send('Target.getTargets')).targetInfos
        .filter(({ type }) => type === 'page')
        .map(({ targetId }) => targetId);
    try {
      await pool.print(page('1'));
      const [first] = await pagesOf();
      for (let n = 2; n <= 100; n++) await pool.print(page(`${n}`));
      expect(await pagesOf()).toEqual([first]);
      expect(isPdf(await pool.print(page('101')))).toBe(true);
      await expect.poll(pagesOf).not.toContain(first);
      expect(await pagesOf()).toHaveLength(1);
      expect(launches).toHaveLength(1);
    } finally {
      await pool.close();
    }
  });

  test('a document that exceeds the time limit is given up, and the next one is printed', async () => {
    const options = poolOptions({ size: 1 });
    const pool = createPrintPool(options);
    try {
      await pool.print(page('warm'));
      const endless = `<!doctype html><table>${'<tr><td>row<td>row</tr>'.repeat(100_000)}</table>`;
      options.timeLimit = 500;
      await expect(pool.print(endless)).rejects.toMatchObject({ name: 'PrintTooSlow' });
      options.timeLimit = 60_000;
      expect(isPdf(await pool.print(page('next')))).toBe(true);
    } finally {
      await pool.close();
    }
  });

  test('the queue is bounded, and rejected on close; no process is left', async () => {
    const pool = newPool({ size: 1, maxWaiting: 2 });
    const prints = ['a', 'b', 'c', 'd'].map((text) => pool.print(page(text)));
    await expect(prints[3]).rejects.toMatchObject({ name: 'PrintQueueFull' });
    expect((await Promise.all(prints.slice(0, 3))).every(isPdf)).toBe(true);
    const waiting = [pool.print(page('e')), pool.print(page('f'))].map((each) => each.catch((error) => error));
    await pool.close();
    expect((await Promise.all(waiting))[1]).toBeInstanceOf(RendererUnavailable);
    await until(() => !groupLives(launches[0]!.pid));
    await expect(pool.print(page('late'))).rejects.toBeInstanceOf(RendererUnavailable);
    expect(launches).toHaveLength(1);
  });

  test('a browser without work ends, and the next document starts a new one', async () => {
    const pool = newPool({ restAfter: 300 });
    try {
      await Promise.all([pool.print(page('a')), pool.print(page('b')), pool.print(page('c'))]);
      const first = launches[0]!;
      expect(groupLives(first.pid)).toBe(true);
      await until(() => !groupLives(first.pid));
      expect(isPdf(await pool.print(page('d')))).toBe(true);
      expect(launches).toHaveLength(2);
    } finally {
      await pool.close();
    }
    await until(() => !groupLives(launches[1]!.pid));
  });

  test('a document that arrives while the browser ends is printed by a new one', async () => {
    const pool = newPool({ restAfter: 1 });
    try {
      for (let i = 0; i < 5; i++) {
        expect(isPdf(await pool.print(page(`n${i}`)))).toBe(true);
        await new Promise((resolve) => setTimeout(resolve, i));
      }
    } finally {
      await pool.close();
    }
    for (const { pid } of launches) await until(() => !groupLives(pid));
  });

  test('the browser exits when its parent process is killed', async () => {
    const launcher = fileURLToPath(new URL('../../src/adapters/pdf/chromium-launcher.ts', import.meta.url));
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

describe('hostile documents, in case escaping fails', () => {
  let pool: PrintPool;
  let server: Server;
  let address: string;
  const requests: string[] = [];
  beforeAll(async () => {
    pool = newPool({ size: 1 });
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

  test('that navigate reach no network and do not affect the next document', async () => {
    await pool.print(`<!doctype html><meta http-equiv=refresh content="0;url=${address}/refresh"><p>x`).catch(() => {});
    await pool.print('<!doctype html><meta http-equiv=refresh content="0;url=file:///etc/passwd"><p>x').catch(() => {});
    for (const text of ['one', 'two', 'three']) {
      const pdf = await pool.print(page(text));
      expect(isPdf(pdf)).toBe(true);
      if (hasPdfToText) expect(textOfPages(pdf)[0]!.trim()).toBe(text);
    }
    expect(requests).toEqual([]);
  });
});
