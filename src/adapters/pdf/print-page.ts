import type { CDPSession } from 'puppeteer-core';
import type { BrowserProcess } from './browser-process.ts';

/** A browser page that prints one document after another. */
export interface PrintPage {
  readonly process: BrowserProcess;
  /** False once the page has crashed, navigated or been detached. Such a page must not be used again. */
  readonly usable: boolean;
  /**
   * Prints an HTML document. Scripts are disabled; the document reaches neither network nor files. One document at a
   * time.
   * @returns the PDF, in the paper size of the document's @page rule
   * @throws {PageLost} immediately when the page or its browser dies
   */
  print(html: string): Promise<Uint8Array>;
  /** Closes the page; resolves when the page or its browser is gone. Never throws. */
  close(): Promise<void>;
}

/** Thrown when the page or its browser died, or a DevTools command failed. Printing may succeed on another page. */
export class PageLost extends Error {
  override readonly name = 'PageLost';
}

/**
 * Opens a new page, or uses the one that the browser `started` with. Puppeteer's `newPage` is not used, because it
 * hangs when the page crashes or the browser dies at certain moments. The DevTools commands used here are answered, or
 * rejected when the browser's pipe closes; a crashed page does not answer, but emits an event.
 * @throws {PageLost} immediately when the page or its browser dies
 */
export async function openPrintPage(process: BrowserProcess, which: 'new' | 'started' = 'new'): Promise<PrintPage> {
  try {
    const { control } = process;
    const targetId = (which === 'started' && (await startedPage(control))) || (await newPage(control));
    const { sessionId } = await control.send('Target.attachToTarget', { targetId, flatten: true });
    return await preparePage(process, targetId, control.connection()!.session(sessionId)!);
  } catch (error) {
    throw pageLost(error);
  }
}

async function startedPage(control: CDPSession): Promise<string | undefined> {
  const { targetInfos } = await control.send('Target.getTargets');
  return targetInfos.find(({ type }) => type === 'page')?.targetId;
}

async function newPage(control: CDPSession): Promise<string> {
  return (await control.send('Target.createTarget', { url: 'about:blank' })).targetId;
}

async function preparePage(process: BrowserProcess, targetId: string, session: CDPSession): Promise<PrintPage> {
  let intact = true;
  let abandon: (() => void) | null = null;
  session.on('Inspector.targetCrashed', () => {
    intact = false;
    abandon?.();
  });
  function unlessItCrashes<T>(work: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      abandon = () => reject(new PageLost('the page crashed'));
      work.then(resolve, (error: unknown) => reject(pageLost(error)));
    }).finally(() => {
      abandon = null;
    });
  }
  const gone = new Promise<void>((resolve) => {
    const onDetached = (detached: CDPSession) => {
      if (detached !== session) return;
      process.control.off('sessiondetached', onDetached);
      resolve();
    };
    process.control.on('sessiondetached', onDetached);
    void process.exited.then(resolve);
  });
  async function close(): Promise<void> {
    // Ignored: this rejects when the page is already gone.
    await process.control.send('Target.closeTarget', { targetId }).catch(() => {});
    await gone;
  }

  try {
    // Inspector.enable also reports a crash from before this session.
    const setUp = [session.send('Inspector.enable'), session.send('Page.enable'), lockDown(session)];
    await unlessItCrashes(Promise.all(setUp));
    const { frameTree } = await unlessItCrashes(session.send('Page.getFrameTree'));
    // Printing never navigates. A page that has navigated is no longer the blank page that printing relies on.
    session.on('Page.frameNavigated', () => {
      intact = false;
    });
    return {
      process,
      get usable() {
        return intact && !session.detached;
      },
      print: (html) => unlessItCrashes(printDocument(session, frameTree.frame.id, html)),
      close,
    };
  } catch (error) {
    void close();
    throw error;
  }
}

async function printDocument(session: CDPSession, frameId: string, html: string): Promise<Uint8Array> {
  await session.send('Page.setDocumentContent', { frameId, html });
  // Browsers load fonts at the first layout, and those of page margins only while printing. So all fonts are loaded
  // before printing.
  await session.send('Runtime.evaluate', {
    expression: 'Promise.all([...document.fonts].map((font) => font.load())).then(() => {})',
    awaitPromise: true,
  });
  const { stream } = await session.send('Page.printToPDF', {
    transferMode: 'ReturnAsStream',
    preferCSSPageSize: true,
    printBackground: true,
    generateTaggedPDF: true,
    generateDocumentOutline: false,
  });
  return readStream(session, stream!);
}

/** Octets of HTML per message. Parsing a long document in one message would block the event loop. */
const PIECE = 256 * 1024;

async function readStream(session: CDPSession, handle: string): Promise<Uint8Array> {
  const pieces: Buffer[] = [];
  for (;;) {
    const { data, eof, base64Encoded } = await session.send('IO.read', { handle, size: PIECE });
    pieces.push(Buffer.from(data, base64Encoded ? 'base64' : 'latin1'));
    if (eof) break;
  }
  await session.send('IO.close', { handle });
  return Buffer.concat(pieces);
}

/** Disables scripts and refuses every request. The browser itself has no network access either (browser-process.ts). */
async function lockDown(session: CDPSession): Promise<void> {
  session.on('Fetch.requestPaused', ({ requestId }) => {
    session.send('Fetch.failRequest', { requestId, errorReason: 'BlockedByClient' }).catch(() => {});
  });
  await Promise.all([
    session.send('Emulation.setScriptExecutionDisabled', { value: true }),
    session.send('Fetch.enable', { patterns: [{ urlPattern: '*' }] }),
  ]);
}

/**
 * Converts an error of a command. All count as a lost page: a crash appears as "Printing failed" before the crash event
 * arrives.
 */
function pageLost(error: unknown): PageLost {
  if (error instanceof PageLost) return error;
  return new PageLost(`the page failed: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
}
