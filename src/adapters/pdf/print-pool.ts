import { RendererUnavailable } from '../../domain/invoice/ports.ts';
import { createFairQueue, QueueFull } from '../../domain/kit/fair-queue.ts';
import type { LaunchedChromium } from './chromium-launcher.ts';
import { openPrintPage, PageLost, type PrintPage } from './print-page.ts';

export interface PrintPoolOptions {
  launch(): Promise<LaunchedChromium>;
  /** Number of documents printed at the same time, each on its own page. */
  readonly size: number;
  /** Time limit for printing one document, in milliseconds. */
  readonly timeLimit: number;
  /** Maximum number of documents that wait for a page. */
  readonly maxWaiting: number;
  /**
   * The browser is closed when it has printed nothing for this long, milliseconds. The next document starts another
   * one.
   */
  readonly restAfter: number;
}

export interface PrintPool {
  /**
   * Prints a document on an idle page. Starts a browser or opens a page if there is none. When the page or the browser
   * dies, prints the document once more on a new page. A browser that cannot open a page is killed and replaced.
   * @throws {RendererUnavailable} when no browser starts, or when the pool is closed
   * @throws {PrintQueueFull} when `maxWaiting` documents wait already
   * @throws {PrintTooSlow} when the browser exceeds a time limit
   * @throws {PageLost} when the page was lost on both attempts, or no page could be opened
   */
  print(html: string): Promise<Uint8Array>;
  /** Returns the running browser; starts it if necessary. @throws {RendererUnavailable} */
  browser(): Promise<LaunchedChromium>;
  /** Rejects waiting documents, and resolves when the browser has exited and its helper processes are killed. */
  close(): Promise<void>;
}

class PrintQueueFull extends Error {
  override readonly name = 'PrintQueueFull';
}
class PrintTooSlow extends Error {
  override readonly name = 'PrintTooSlow';
}
class PageNotOpened extends PageLost {}

/** Minimum time from a failed start to the next one, milliseconds, because a start may take seconds. */
const LAUNCH_PAUSE = 10_000;
/** A browser that takes longer than this to open a page, milliseconds, is considered hung. */
const OPEN_LIMIT = 15_000;
/**
 * A page is replaced after this many documents. Chromium takes ever longer to load the next document (5 ms at first, 20
 * ms after 600), and its memory grows.
 */
const PRINTS_PER_PAGE = 100;
/**
 * A page is closed after a document with at least this many characters of HTML (about 300 to 700 invoice lines),
 * because it would keep up to 300 MiB of memory.
 */
const LARGE_DOCUMENT = 200_000;

/**
 * Maximum number of times a document is printed: a document that makes every page crash must not be retried for ever.
 */
const MOST_PRINTS = 2;
/**
 * A browser is replaced when it fails to open a page this many times in a row. It may still be connected after the
 * processes that start its helpers have died. A document may need more attempts than that until it has a page, because
 * failures of other documents count for the browser, too.
 */
const [BROKEN_AFTER, MOST_OPENINGS] = [2, 4];

interface PooledPage {
  readonly page: PrintPage;
  prints: number;
}

export function createPrintPool(options: PrintPoolOptions): PrintPool {
  let launched: Promise<LaunchedChromium> | null = null;
  /** For each browser, its start, and how many pages in a row it could not open. */
  const states = new WeakMap<LaunchedChromium, { readonly start: Promise<LaunchedChromium>; unopened: number }>();
  let idle: PooledPage[] = [];
  /** Browsers whose initial page has not been taken yet. */
  const withInitialPage = new WeakSet<LaunchedChromium>();
  /** A place is the right to use a page. */
  const queue = createFairQueue({ places: options.size, total: options.maxWaiting });
  let busy = 0;
  let closed = false;
  let rest: NodeJS.Timeout | undefined;
  /** The exits of browsers that had nothing to print or were replaced. */
  const ending = new Set<Promise<void>>();

  function browser(): Promise<LaunchedChromium> {
    if (closed) return Promise.reject(poolClosed());
    if (launched !== null) return launched;
    const start = launch();
    launched = start;
    start.then(
      (chromium) => {
        states.set(chromium, { start, unopened: 0 });
        return chromium.exited.then(() => forget(start));
      },
      () => setTimeout(() => forget(start), LAUNCH_PAUSE).unref(),
    );
    return start;
  }

  async function launch(): Promise<LaunchedChromium> {
    const chromium = await options.launch();
    withInitialPage.add(chromium);
    return chromium;
  }

  /** Schedules closing the browser after `restAfter`, unless something is printed before. */
  function restLater(): void {
    clearTimeout(rest);
    if (busy > 0 || closed) return;
    rest = setTimeout(() => {
      const start = launched;
      if (start === null) return;
      // Forgotten first, so that the next document starts a new browser instead of waiting until this one has exited.
      forget(start);
      awaitEnd(
        start.then(
          (chromium) => chromium.close(),
          () => {},
        ),
      );
    }, options.restAfter).unref();
  }

  function awaitEnd(exit: Promise<void>): void {
    const end: Promise<void> = exit.finally(() => ending.delete(end));
    ending.add(end);
  }

  /** Kills a browser. The next page is opened in a new one, without waiting until this one has exited. */
  function replace(chromium: LaunchedChromium): void {
    const state = states.get(chromium);
    // The browser was replaced already.
    if (!state) return;
    states.delete(chromium);
    forget(state.start);
    chromium.kill();
    awaitEnd(chromium.exited);
  }

  function forget(start: Promise<LaunchedChromium>): void {
    if (launched !== start) return;
    launched = null;
    idle = [];
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
    const opening = openPrintPage(chromium, withInitialPage.delete(chromium) ? 'started' : 'new');
    try {
      const page = await withinLimit(opening, OPEN_LIMIT);
      const state = states.get(chromium);
      if (state) state.unopened = 0;
      return { page, prints: 0 };
    } catch (error) {
      const state = states.get(chromium);
      if (!(error instanceof PageLost) || (state && ++state.unopened === BROKEN_AFTER)) replace(chromium);
      throw error instanceof PageLost ? new PageNotOpened(error.message, { cause: error }) : error;
    }
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

  async function printAgainIfLost(html: string): Promise<Uint8Array> {
    for (let [lost, failedToOpen] = [0, 0]; ; ) {
      try {
        return await printOnce(html);
      } catch (error) {
        if (!(error instanceof PageLost)) throw error;
        if (error instanceof PageNotOpened ? ++failedToOpen === MOST_OPENINGS : ++lost === MOST_PRINTS) throw error;
        retireIdle();
      }
    }
  }

  /**
   * Closes idle pages: they may have died with the lost page without being reported yet, and the second attempt needs a
   * new page.
   */
  function retireIdle(): void {
    for (const { page } of idle.splice(0)) void page.close();
  }

  return {
    print: (html) =>
      queue
        .run('all', async () => {
          clearTimeout(rest);
          busy += 1;
          try {
            return await printAgainIfLost(html);
          } finally {
            busy -= 1;
            restLater();
          }
        })
        .catch((error: unknown) => {
          if (error instanceof QueueFull)
            throw new PrintQueueFull(`${options.maxWaiting} documents are already waiting to be printed`);
          throw closed && error instanceof PageLost ? poolClosed() : error;
        }),
    browser,
    async close() {
      closed = true;
      clearTimeout(rest);
      queue.close(poolClosed());
      await launched?.then(
        (chromium) => chromium.close(),
        () => {},
      );
      await Promise.all(ending);
    },
  };
}

function poolClosed(): RendererUnavailable {
  return new RendererUnavailable('The service is shutting down: the PDF is rendered after the next start.');
}

async function withinLimit<T>(work: Promise<T>, limit: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new PrintTooSlow(`the browser did not answer within ${limit} ms`)), limit);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** Closes a page; kills its browser when the page does not close within 2 s. */
async function discard(page: PrintPage): Promise<void> {
  await withinLimit(page.close(), 2_000).catch(() => page.process.kill());
}
