import { RendererUnavailable } from '../../domain/invoice/ports.ts';
import type { LaunchedChromium } from './chromium-launcher.ts';
import { openPrintPage, PageLost, type PrintPage } from './print-page.ts';

export interface PrintPoolOptions {
  launch(): Promise<LaunchedChromium>;
  /** How many documents are printed at once, each on a page of its own. */
  readonly size: number;
  /** Milliseconds that one document may take on a page. */
  readonly timeLimit: number;
  /** How many more may wait for a page. */
  readonly maxWaiting: number;
}

export interface PrintPool {
  /**
   * Prints on a warm page, or starts what is missing. A page or browser that dies is replaced and its documents are printed
   * again, once.
   * @throws {RendererUnavailable} when no browser starts, or the pool is closed
   * @throws {PrintQueueFull}
   * @throws {PrintTooSlow}
   * @throws {PageLost} when it was lost twice
   */
  print(html: string): Promise<Uint8Array>;
  /** The running browser, started if need be. @throws {RendererUnavailable} */
  browser(): Promise<LaunchedChromium>;
  /** Refuses what waits, and resolves when the browser has ended and its helpers are killed. */
  close(): Promise<void>;
}

export class PrintQueueFull extends Error {
  override readonly name = 'PrintQueueFull';
}
export class PrintTooSlow extends Error {
  override readonly name = 'PrintTooSlow';
}

/** A failed start is not tried again for as long (milliseconds): each try may take seconds. */
const LAUNCH_PAUSE = 10_000;
/** A browser that opens no page for as long (milliseconds) hangs. */
const OPEN_LIMIT = 15_000;
/** Pages are replaced now and then, so that nothing of a browser's can pile up. */
const PRINTS_PER_PAGE = 1_000;
/** After a document of as many characters of HTML (some 300 to 700 lines) at once: its page would keep the memory, up to 300 MiB. */
const LARGE_DOCUMENT = 200_000;

interface PooledPage {
  readonly page: PrintPage;
  prints: number;
}

export function createPrintPool(options: PrintPoolOptions): PrintPool {
  let launched: Promise<LaunchedChromium> | null = null;
  let idle: PooledPage[] = [];
  /** Those whose first page, the one that they start with, is not in use yet. */
  const untouched = new WeakSet<LaunchedChromium>();
  let busy = 0;
  let waiting: { start(): void; refuse(error: Error): void }[] = [];
  let closed = false;

  function browser(): Promise<LaunchedChromium> {
    if (closed) return Promise.reject(poolClosed());
    if (launched !== null) return launched;
    const start = launch();
    launched = start;
    start.then(
      (chromium) => chromium.exited.then(() => forget(start)),
      () => setTimeout(() => forget(start), LAUNCH_PAUSE).unref(),
    );
    return start;
  }

  async function launch(): Promise<LaunchedChromium> {
    const chromium = await options.launch();
    untouched.add(chromium);
    return chromium;
  }

  function forget(start: Promise<LaunchedChromium>): void {
    if (launched !== start) return;
    launched = null;
    idle = [];
  }

  /** A slot is one of `size` rights to use a page. */
  async function takeSlot(): Promise<void> {
    if (closed) throw poolClosed();
    if (busy < options.size) {
      busy += 1;
      return;
    }
    if (waiting.length >= options.maxWaiting)
      throw new PrintQueueFull(`${waiting.length} documents wait to be printed`);
    await new Promise<void>((start, refuse) => waiting.push({ start, refuse }));
  }

  function freeSlot(): void {
    const next = waiting.shift();
    if (next === undefined) busy -= 1;
    else next.start();
  }

  async function takePage(): Promise<PooledPage> {
    let chromium = await browser();
    if (!chromium.browser.connected) {
      chromium.kill();
      await chromium.exited;
      chromium = await browser();
    }
    for (let pooled = idle.pop(); pooled !== undefined; pooled = idle.pop()) {
      if (pooled.page.usable && pooled.prints < PRINTS_PER_PAGE) return pooled;
      void pooled.page.close();
    }
    const opening = openPrintPage(chromium, untouched.delete(chromium) ? 'started' : 'new');
    const page = await withinLimit(opening, OPEN_LIMIT).catch((error: unknown) => {
      if (error instanceof PrintTooSlow) chromium.kill();
      throw error;
    });
    return { page, prints: 0 };
  }

  async function printOnce(html: string): Promise<Uint8Array> {
    const pooled = await takePage();
    const { page } = pooled;
    pooled.prints += 1;
    try {
      const pdf = await withinLimit(page.print(html), options.timeLimit);
      if (html.length < LARGE_DOCUMENT) idle.push(pooled);
      else void page.close();
      return pdf;
    } catch (error) {
      await discard(page);
      throw error;
    }
  }

  /** What took one page may have taken those that are idle, and not be reported yet: the second try gets a new one. */
  function retireIdle(): void {
    for (const { page } of idle.splice(0)) void page.close();
  }

  return {
    async print(html) {
      await takeSlot();
      try {
        return await printOnce(html).catch((error: unknown) => {
          if (!(error instanceof PageLost)) throw error;
          retireIdle();
          return printOnce(html);
        });
      } catch (error) {
        throw closed && error instanceof PageLost ? poolClosed() : error;
      } finally {
        freeSlot();
      }
    },
    browser,
    async close() {
      closed = true;
      for (const { refuse } of waiting) refuse(poolClosed());
      waiting = [];
      await launched?.then(
        (chromium) => chromium.close(),
        () => {},
      );
    },
  };
}

function poolClosed(): RendererUnavailable {
  return new RendererUnavailable('The service is shutting down: the PDF is drawn after its next start.');
}

async function withinLimit<T>(work: Promise<T>, limit: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new PrintTooSlow(`the browser did not answer within ${limit} ms`)), limit);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** A page that hangs may not even close: then its browser goes. */
async function discard(page: PrintPage): Promise<void> {
  await withinLimit(page.close(), 2_000).catch(() => page.process.kill());
}
