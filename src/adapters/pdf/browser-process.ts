import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { constants, setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { Browser, CDPSession, ConnectionTransport } from 'puppeteer-core';

/** A running browser of ours. */
export interface BrowserProcess {
  readonly browser: Browser;
  /** Commands to the browser itself, which opens and closes pages. */
  readonly control: CDPSession;
  /** Also its process group's, except on Windows. */
  readonly pid: number;
  readonly sandboxed: boolean;
  /** Settles when the process is gone and its helpers are killed. */
  readonly exited: Promise<void>;
  /** Ends the browser, by force when it does not end itself within two seconds. Never throws. */
  close(): Promise<void>;
  /** Ends it at once. */
  kill(): void;
}

export interface BrowserStart {
  readonly executable: string;
  readonly sandbox: boolean;
  /** The browser's whole environment: nothing of the service's (which holds secrets) is handed on. */
  readonly environment: Readonly<Record<string, string>>;
  /** Full browsers insist on a profile on the disk; the headless shell that npm brings needs none. */
  readonly needsProfile: boolean;
}

/** The browser ended before it answered; the message is what it said. */
export class BrowserStartFailed extends Error {
  override readonly name = 'BrowserStartFailed';
}

const START_LIMIT = 30_000;

/**
 * Starts a browser and speaks to it over a pair of pipes: no port is opened, and when this process dies in whatever way, the
 * pipes close and the browser ends by itself. (Not puppeteer's own launcher: over pipes it neither tells what the browser
 * complained of, nor survives a file that can't be executed.)
 * @throws {BrowserStartFailed}
 */
export async function startBrowser(start: BrowserStart): Promise<BrowserProcess> {
  const { default: puppeteer } = await import('puppeteer-core');
  const profile = start.needsProfile ? await mkdtemp(join(tmpdir(), 'fatoura-browser-')) : null;
  const defaults = await puppeteer.defaultArgs({ headless: 'shell', args: ownArguments(start, profile) });
  const child = spawn(
    start.executable,
    [...defaults.filter((each) => !UNWANTED.has(each)), '--remote-debugging-pipe'],
    {
      env: profile === null ? { ...start.environment } : { HOME: profile, ...start.environment },
      stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
      // Its own process group: the terminal's Ctrl-C is the service's to handle, and the group is killed as one.
      detached: process.platform !== 'win32',
    },
  );
  yieldToService(child);
  const complaint = tailOf(child.stderr!);
  const exited = new Promise<void>((resolve) => {
    // Its helpers have nothing to live for.
    child.once('exit', () => killGroup(child));
    child.once('close', () => resolve());
    child.once('error', (error) => {
      complaint.add(error.message);
      resolve();
    });
  });
  if (profile !== null)
    void exited.then(() => rm(profile, { recursive: true, force: true, maxRetries: 3 }).catch(() => {}));
  const kill = () => {
    if (child.exitCode === null && child.signalCode === null) killGroup(child);
  };

  let timer: NodeJS.Timeout | undefined;
  try {
    const failed = Promise.race([
      exited.then(() => 'it ended at once'),
      new Promise<string>((resolve) => {
        timer = setTimeout(resolve, START_LIMIT, `it did not answer within ${START_LIMIT / 1000} s`);
      }),
    ]).then((what) => {
      throw new Error(what);
    });
    const transport = pipeTransport(child.stdio[3] as Writable, child.stdio[4] as Readable);
    const connected = puppeteer.connect({ transport, defaultViewport: null });
    const browser = await Promise.race([connected, failed]);
    const control = await Promise.race([browser.target().createCDPSession(), failed]);
    return {
      browser,
      control,
      pid: child.pid!,
      sandboxed: start.sandbox,
      exited,
      kill,
      close: () => close(browser, exited, kill),
    };
  } catch (error) {
    kill();
    // What it said is complete when its pipes are closed.
    await exited;
    throw new BrowserStartFailed(complaint.text() || (error instanceof Error ? error.message : String(error)));
  } finally {
    clearTimeout(timer);
  }
}

async function close(browser: Browser, exited: Promise<void>, kill: () => void): Promise<void> {
  const force = setTimeout(kill, 2_000);
  browser.close().catch(kill);
  await exited;
  clearTimeout(force);
}

/** An invoice needs no outline. */
const UNWANTED = new Set(['--generate-pdf-document-outline']);

function ownArguments(start: BrowserStart, profile: string | null): string[] {
  return [
    ...(start.sandbox ? [] : ['--no-sandbox']),
    ...(profile === null ? [] : [`--user-data-dir=${profile}`]),
    // Printing needs no graphics card, and no emulation of one.
    '--disable-gpu',
    '--disable-software-rasterizer',
    '--font-render-hinting=none',
    // Nothing leaves the machine even if a request escaped the page's own guard (prefetches do): no name or address resolves,
    // and the only proxy is a port that can't be.
    '--host-resolver-rules=MAP * ~NOTFOUND',
    '--proxy-server=http://0.0.0.0:1',
    '--proxy-bypass-list=<-loopback>',
  ];
}

/** DevTools messages separated by NUL, as Chromium's remote debugging pipe wants them. */
function pipeTransport(output: Writable, input: Readable): ConnectionTransport {
  let pending: Buffer[] = [];
  const transport: ConnectionTransport = {
    send: (message) => {
      output.write(message);
      output.write('\0');
    },
    close: () => {
      output.destroy();
      input.destroy();
    },
  };
  input.on('data', (chunk: Buffer) => {
    let start = 0;
    for (let end = chunk.indexOf(0); end >= 0; end = chunk.indexOf(0, start)) {
      const message = Buffer.concat([...pending, chunk.subarray(start, end)]).toString();
      pending = [];
      start = end + 1;
      // Each message in a turn of its own, as they would come over a socket.
      setImmediate(() => transport.onmessage?.(message));
    }
    if (start < chunk.length) pending.push(chunk.subarray(start));
  });
  input.on('close', () => transport.onclose?.());
  input.on('error', () => {});
  output.on('error', () => {});
  return transport;
}

/** The last words of a stream: at most 4,000 characters. */
function tailOf(stream: Readable) {
  let said = '';
  const add = (more: string) => {
    said = (said + more).slice(-4_000);
  };
  stream.setEncoding('utf8').on('data', add);
  return { add, text: () => said.trim() };
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === 'win32') child.kill('SIGKILL');
    else process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It ended meanwhile.
  }
}

/** Drawing never holds back what decides over invoices: where processors are scarce (at a start, say), the browser waits. */
function yieldToService({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // It has ended already, or the system grants no priorities: it runs like any other process.
  }
}
