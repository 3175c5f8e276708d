import type { CDPSession } from 'puppeteer-core';
import type { BrowserProcess } from './browser-process.ts';

/** A page of a browser that is used for one document after another. */
export interface PrintPage {
  readonly process: BrowserProcess;
  /** False once something happened to it that no document of ours does: it is not used again. */
  readonly usable: boolean;
  /**
   * Prints an HTML document, which runs no script and reaches no network and no file. One at a time.
   * @returns the PDF, on the paper that the document's @page asks for
   * @throws {PageLost} at once when the page or its browser dies
   */
  print(html: string): Promise<Uint8Array>;
  /** Resolves when the page is gone, be it with its browser. Never throws. */
  close(): Promise<void>;
}

/** The page or its browser died, or refuses what a page in order does: another page may do. */
export class PageLost extends Error {
  override readonly name = 'PageLost';
}

/**
 * Opens a page, or takes the one into use that the browser `started` with. (Not with puppeteer's `newPage`, which waits for
 * ever when the page crashes or the browser dies at the wrong moment. What is sent here is answered, or rejected when the
 * browser's pipe closes; for a page that crashes, which alone answers nothing, there is an event.)
 * @throws {PageLost} at once when the page or its browser dies
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
    // Refused when it is gone already.
    await process.control.send('Target.closeTarget', { targetId }).catch(() => {});
    await gone;
  }

  try {
    // The first command tells of a crash that happened before this session began.
    const setUp = [session.send('Inspector.enable'), session.send('Page.enable'), lockDown(session)];
    await unlessItCrashes(Promise.all(setUp));
    const { frameTree } = await unlessItCrashes(session.send('Page.getFrameTree'));
    // Printing never navigates: a page that did is not the empty one that it is taken for.
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
  // Fonts load when they are first laid out, those of page margins only by printing: all that are there are awaited before.
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

/** Octets of one message. A long document in one piece would hold the event loop while it is parsed. */
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

/** Whatever a page refuses: a crash shows as "Printing failed" before it is reported as one. */
function pageLost(error: unknown): PageLost {
  if (error instanceof PageLost) return error;
  return new PageLost(`the page failed: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
}
