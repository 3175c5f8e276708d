import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { access, constants, mkdtemp, rm } from 'node:fs/promises';
import { constants as osConstants, setPriority, tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { Browser, CDPSession, ConnectionTransport } from 'puppeteer-core';
import { requireStarted } from './require-started.ts';

/** A browser process started by this service. */
export interface BrowserProcess {
  readonly browser: Browser;
  /** The DevTools session of the browser target, which opens and closes pages. */
  readonly control: CDPSession;
  /** Process id; except on Windows it is also the process group id. */
  readonly pid: number;
  readonly sandboxed: boolean;
  /** Resolves when the process has exited and its helper processes are killed. */
  readonly exited: Promise<void>;
  /** Closes the browser, and kills it when it has not exited after 2 s. Never throws. */
  close(): Promise<void>;
  /** Kills the browser immediately. */
  kill(): void;
}

export interface BrowserStart {
  readonly executable: string;
  readonly sandbox: boolean;
  /** The complete environment of the browser. It inherits nothing from the service, whose environment holds secrets. */
  readonly environment: Readonly<Record<string, string>>;
  /** Full browsers need a profile folder on disk; the headless shell from npm does not. */
  readonly needsProfile: boolean;
}

/** Thrown when the browser exited before it responded. The message is its error output. */
export class BrowserStartFailed extends Error {
  override readonly name = 'BrowserStartFailed';
}

const START_LIMIT = 30_000;

/**
 * Starts a browser and connects to it over a pair of pipes. No port is opened, and when this process dies for any
 * reason, the pipes close and the browser exits. Puppeteer's own launcher is not used: over pipes it does not report
 * the browser's error output, and a file that cannot be executed crashes this process.
 * @throws {BrowserStartFailed}
 */
export async function startBrowser(start: BrowserStart): Promise<BrowserProcess> {
  await requireExecutable(start.executable);
  // Loaded only when a browser starts: its 129 modules would cost each start of the service more than 0.2 s of CPU.
  const { default: puppeteer } = await import('puppeteer-core');
  const profile = start.needsProfile ? await mkdtemp(join(tmpdir(), 'fatoura-browser-')) : null;
  const removeProfile = async () => {
    if (profile !== null) await rm(profile, { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
  };
  const defaults = await puppeteer.defaultArgs({ headless: 'shell', args: ownArguments(start, profile) });
  const [command, ...words] = atLowPriority(start.executable);
  const child = spawn(
    command,
    [...words, ...defaults.filter((each) => !UNWANTED.has(each)), '--remote-debugging-pipe'],
    {
      env: profile === null ? { ...start.environment } : { HOME: profile, ...start.environment },
      stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
      // A process group of its own: Ctrl-C in the terminal reaches only the service, and the whole group can be killed.
      detached: process.platform !== 'win32',
    },
  );
  try {
    await requireStarted(child);
  } catch (error) {
    await removeProfile();
    throw new BrowserStartFailed((error as Error).message);
  }
  lowerPriority(child);
  const complaint = tailOf(child.stderr!);
  const exited = new Promise<void>((resolve) => {
    // Helper processes may outlive the browser.
    child.once('exit', () => killGroup(child));
    child.once('close', () => resolve());
    child.once('error', (error) => {
      complaint.add(error.message);
      resolve();
    });
  });
  void exited.then(removeProfile);
  const kill = () => {
    if (child.exitCode === null && child.signalCode === null) killGroup(child);
  };

  let timer: NodeJS.Timeout | undefined;
  try {
    const failed = Promise.race([
      exited.then(() => 'it exited at once'),
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
    // The error output is complete once the pipes are closed.
    await exited;
    throw new BrowserStartFailed(complaint.text() || (error instanceof Error ? error.message : String(error)));
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Checks that a path names an executable file. A bare name is not checked: the system looks it up.
 * @throws {BrowserStartFailed} when the file is missing or not executable
 */
async function requireExecutable(executable: string): Promise<void> {
  if (!isAbsolute(executable)) return;
  await access(executable, constants.X_OK).catch((error: Error) => {
    throw new BrowserStartFailed(error.message);
  });
}

async function close(browser: Browser, exited: Promise<void>, kill: () => void): Promise<void> {
  const force = setTimeout(kill, 2_000);
  browser.close().catch(kill);
  await exited;
  clearTimeout(force);
}

/** Puppeteer's default arguments that are left out. An invoice needs no outline. */
const UNWANTED = new Set(['--generate-pdf-document-outline']);

function ownArguments(start: BrowserStart, profile: string | null): string[] {
  return [
    ...(start.sandbox ? [] : ['--no-sandbox']),
    ...(profile === null ? [] : [`--user-data-dir=${profile}`]),
    // Printing needs neither a GPU nor software rendering.
    '--disable-gpu',
    '--disable-software-rasterizer',
    '--font-render-hinting=none',
    // No request leaves the machine even if it bypasses the page's request interception (prefetches do): no host name
    // or address resolves, and the only proxy is an address that cannot be connected to.
    '--host-resolver-rules=MAP * ~NOTFOUND',
    '--proxy-server=http://0.0.0.0:1',
    '--proxy-bypass-list=<-loopback>',
  ];
}

/** Transport over Chromium's remote debugging pipe, which separates DevTools messages by NUL. */
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
      // Each message is handled in its own turn of the event loop, as with a socket.
      setImmediate(() => transport.onmessage?.(message));
    }
    if (start < chunk.length) pending.push(chunk.subarray(start));
  });
  input.on('close', () => transport.onclose?.());
  input.on('error', () => {});
  output.on('error', () => {});
  return transport;
}

/** Returns a function that returns the last 4,000 characters of a stream. */
function tailOf(stream: Readable) {
  let tail = '';
  const add = (more: string) => {
    tail = (tail + more).slice(-4_000);
  };
  stream.setEncoding('utf8').on('data', add);
  return { add, text: () => tail.trim() };
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === 'win32') child.kill('SIGKILL');
    else process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The process has already exited.
  }
}

const PRIORITY = osConstants.priority.PRIORITY_BELOW_NORMAL;

/**
 * Returns the command that starts a browser at a lower CPU priority, so that rendering PDFs never delays the processing
 * of invoices. On Linux a priority belongs to a thread and only new threads inherit it, so the browser must start with
 * it.
 */
function atLowPriority(executable: string): [string, ...string[]] {
  return process.platform === 'linux' ? ['nice', '-n', String(PRIORITY), executable] : [executable];
}

/**
 * Lowers the CPU priority of a browser that has started. On Linux its session may be an autogroup (sched(7)): the
 * kernel shares the CPU between autogroups first, and applies the priorities of processes only within an autogroup.
 */
function lowerPriority({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  // Fails if the process has exited, or if the system lacks or forbids this. The browser then keeps its priority, and
  // PDFs compete with other work.
  try {
    if (process.platform === 'linux') writeFileSync(`/proc/${pid}/autogroup`, String(PRIORITY));
    else setPriority(pid, PRIORITY);
  } catch {}
}
