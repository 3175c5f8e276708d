import type { PrintedInvoice } from '../../domain/invoice/ports.ts';
import { createThreads, type OnFatal } from '../threads.ts';
import { type Log, launchChromium } from './chromium-launcher.ts';
import { createPrintPool } from './print-pool.ts';

export interface PdfRendererOptions {
  /** The only browser to use (CHROMIUM_PATH); otherwise npm's Chromium, or an installed one. */
  readonly executablePath?: string | undefined;
  /** Where npm's Chromium is unpacked once (about 210 MB): private to this user and kept between starts; shared by processes. */
  readonly cacheDir: string;
  readonly log?: Log | undefined;
  /** How many invoices are drawn at once; 2 unless given. */
  readonly poolSize?: number | undefined;
  /** Milliseconds that one invoice may take on a page; 15,000 unless given. */
  readonly timeLimit?: number | undefined;
  /** Is told when the thread that writes the pages died and can't be started again. */
  readonly onFatal?: OnFatal | undefined;
}

export interface ChromiumPdfRenderer {
  /** @returns a tagged A4 PDF, not signed @throws {RendererUnavailable} when no browser can be started: the text says what to do */
  render(page: PrintedInvoice): Promise<Uint8Array>;
  /** Starts the browser and its first page, so that the first invoice need not wait. Never throws: what fails is logged. */
  warm(): Promise<void>;
  /** What draws, or what to do so that something does. Never throws. */
  diagnose(): Promise<RendererDiagnosis>;
  /** Refuses what waits, and resolves when the browser has ended. */
  close(): Promise<void>;
}

export type RendererDiagnosis =
  | {
      readonly works: true;
      readonly executable: string;
      /** `HeadlessChrome/153.0.8010.0` */
      readonly version: string;
      readonly sandboxed: boolean;
      /** Of a page drawn just now. */
      readonly milliseconds: number;
    }
  | { readonly works: false; readonly advice: string };

const MAX_WAITING = 500;

/** Draws invoices with Chromium, in the language of their seller, on A4. The browser starts with the first use (or `warm`) and restarts when it dies. */
export function createPdfRenderer(options: PdfRendererOptions): ChromiumPdfRenderer {
  const pool = createPrintPool({
    launch: () => launchChromium(options),
    size: options.poolSize ?? 2,
    timeLimit: options.timeLimit ?? 15_000,
    maxWaiting: MAX_WAITING,
  });

  // A page of 1,000 lines takes longer to write than the event loop may be held.
  const threads = createThreads<PrintedInvoice | null, string>(
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
