import type { DrawnDraft, PrintedInvoice } from '../../domain/invoice/ports.ts';
import { createThreads, type OnFatal } from '../threads.ts';
import { type Log, launchChromium } from './chromium-launcher.ts';
import { createPrintPool } from './print-pool.ts';

export interface PdfRendererOptions {
  /** The only browser to use (CHROMIUM_PATH). Default: the npm package's Chromium, or else an installed one. */
  readonly executablePath?: string | undefined;
  /**
   * Folder into which the npm package's Chromium is unpacked once (about 210 MB): private to this user, shared by its
   * processes.
   */
  readonly cacheDir: string;
  readonly log?: Log | undefined;
  /** Number of invoices rendered at the same time. Default 2. */
  readonly poolSize?: number | undefined;
  /** Time limit for printing one invoice, in milliseconds. Default 15,000. */
  readonly timeLimit?: number | undefined;
  /** Called when the thread that writes the pages has died and cannot be restarted. */
  readonly onFatal?: OnFatal | undefined;
}

export interface ChromiumPdfRenderer {
  /**
   * Renders an invoice, or a draft.
   * @returns a tagged, unsigned A4 PDF
   * @throws {RendererUnavailable} when no browser can be started; the message says what to do
   */
  render(page: PrintedInvoice | DrawnDraft): Promise<Uint8Array>;
  /**
   * Starts the browser and its first page, so that the first invoice does not wait for them. Never throws; a failure is
   * logged.
   */
  warm(): Promise<void>;
  /** Prints a page and reports the browser used, or what to do when none works. Never throws. */
  diagnose(): Promise<RendererDiagnosis>;
  /** Rejects waiting invoices, and resolves when the browser has exited. */
  close(): Promise<void>;
}

export type RendererDiagnosis =
  | {
      readonly works: true;
      readonly executable: string;
      /** `HeadlessChrome/153.0.8010.0` */
      readonly version: string;
      readonly sandboxed: boolean;
      /** Time to print one page. */
      readonly milliseconds: number;
    }
  | { readonly works: false; readonly advice: string };

const MAX_WAITING = 500;
/**
 * After this time without work the browser is closed, milliseconds. It takes about 150 MB, and starts again in about
 * 0.3 s.
 */
const REST_AFTER_MS = 5 * 60_000;

/**
 * Renders invoices with Chromium on A4, in the seller's document language. The browser starts with the first invoice
 * (or `warm`), is closed when it has had nothing to print for five minutes, and is restarted when it dies.
 */
export function createPdfRenderer(options: PdfRendererOptions): ChromiumPdfRenderer {
  const pool = createPrintPool({
    launch: () => launchChromium(options),
    size: options.poolSize ?? 2,
    timeLimit: options.timeLimit ?? 15_000,
    maxWaiting: MAX_WAITING,
    restAfter: REST_AFTER_MS,
  });

  // Writing a page of 1,000 lines would block the event loop for too long.
  const threads = createThreads<PrintedInvoice | DrawnDraft | null, string>(
    { filename: new URL('./page-thread.ts', import.meta.url).href },
    options.onFatal,
  );

  return {
    async render(page) {
      return pool.print(await threads.run(page));
    },
    async warm() {
      try {
        await pool.print(await threads.run(null));
      } catch (error) {
        options.log?.warn({ err: error }, error instanceof Error ? error.message : String(error));
      }
    },
    async diagnose() {
      try {
        const { browser, executable, sandboxed } = await pool.browser();
        const page = await threads.run(null);
        const start = performance.now();
        await pool.print(page);
        const milliseconds = Math.round(performance.now() - start);
        return { works: true, executable, version: await browser.version(), sandboxed, milliseconds };
      } catch (error) {
        return { works: false, advice: error instanceof Error ? error.message : String(error) };
      }
    },
    async close() {
      await pool.close();
      await threads.close();
    },
  };
}
