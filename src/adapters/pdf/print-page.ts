import type { CDPSession, Page } from 'puppeteer-core';
import type { BrowserProcess } from './browser-process.ts';

/** A page of a browser that is used for one document after another. */
export interface PrintPage {
  readonly process: BrowserProcess;
  /** False once something happened to it that no document of ours does: it is not used again. */
  readonly usable: boolean;
  /**
   * Prints an HTML document, which runs no script and reaches no network and no file.
   * @returns the PDF, on the paper that the document's @page asks for
   * @throws {PageLost} when the page or its browser died
   */
  print(html: string): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** The page or its browser died while it printed: another page may do. */
export class PageLost extends Error {
  override readonly name = 'PageLost';
}

/** Opens a page, or takes `page` into use. @throws {PageLost} when the browser died */
export async function openPrintPage(process: BrowserProcess, page?: Page): Promise<PrintPage> {
  try {
    return await preparePage(process, page ?? (await process.browser.newPage()));
  } catch (error) {
    throw process.browser.connected ? error : new PageLost('the browser ended', { cause: error });
  }
}

async function preparePage(process: BrowserProcess, target: Page): Promise<PrintPage> {
  const session = await target.createCDPSession();
  await Promise.all([session.send('Page.enable'), lockDown(session)]);
  const { frameTree } = await session.send('Page.getFrameTree');
  const frameId = frameTree.frame.id;

  let usable = true;
  let abandon: (() => void) | null = null;
  const lost = () => {
    usable = false;
    abandon?.();
  };
  session.on('Inspector.targetCrashed', lost);
  void process.exited.then(lost);
  // Printing never navigates: a page that did is not the empty one that it is taken for.
  session.on('Page.frameNavigated', () => {
    usable = false;
  });

  async function print(html: string): Promise<Uint8Array> {
    await session.send('Page.setDocumentContent', { frameId, html });
    // Fonts load when they are first laid out, those of page margins only by printing: all that are there are awaited before.
    await session.send('Runtime.evaluate', {
      expression: 'Promise.all([...document.fonts].map((font) => font.load())).then(() => {})',
      awaitPromise: true,
    });
    const { data } = await session.send('Page.printToPDF', {
      preferCSSPageSize: true,
      printBackground: true,
      generateTaggedPDF: false,
      generateDocumentOutline: false,
    });
    return Buffer.from(data, 'base64');
  }

  return {
    process,
    get usable() {
      return usable;
    },
    print: (html) =>
      new Promise<Uint8Array>((resolve, reject) => {
        abandon = () => reject(new PageLost('the page ended while it printed'));
        print(html).then(resolve, (error: unknown) => {
          reject(process.browser.connected ? error : new PageLost('the browser ended', { cause: error }));
        });
      }).finally(() => {
        abandon = null;
      }),
    close: () => target.close().catch(() => {}),
  };
}

/** No scripts; every request is refused. The browser itself has no network either (browser-process.ts). */
async function lockDown(session: CDPSession): Promise<void> {
  session.on('Fetch.requestPaused', ({ requestId }) => {
    session.send('Fetch.failRequest', { requestId, errorReason: 'BlockedByClient' }).catch(() => {});
  });
  await Promise.all([
    session.send('Emulation.setScriptExecutionDisabled', { value: true }),
    session.send('Fetch.enable', { patterns: [{ urlPattern: '*' }] }),
  ]);
}
