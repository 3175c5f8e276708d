import { EventEmitter } from 'node:events';
import type { LaunchedChromium } from '../../src/adapters/pdf/chromium-launcher.ts';

/** A command to a page, or to the browser itself (`page` is null). */
export interface FakeCommand {
  readonly method: string;
  readonly page: FakePage | null;
}

/** A page of {@link FakeChromium} and its session. */
export class FakePage extends EventEmitter {
  detached = false;
  /** A crashed page answers no commands. */
  #isCrashed = false;
  readonly targetId: string;
  /** The last document that it was given. */
  html = '';
  readonly #browser: FakeChromium;

  constructor(browser: FakeChromium, targetId: string) {
    super();
    this.#browser = browser;
    this.targetId = targetId;
  }

  get isCrashed(): boolean {
    return this.#isCrashed;
  }

  send(method: string, params: { html?: string } = {}): Promise<object> {
    if (method === 'Page.setDocumentContent') this.html = params.html ?? '';
    return this.#browser.answer({ method, page: this }, () => {
      if (method === 'Page.getFrameTree') return { frameTree: { frame: { id: 'frame' } } };
      if (method === 'Page.printToPDF') return { stream: 'stream' };
      if (method === 'IO.read') return { data: btoa(`%PDF-${this.html}`), eof: true, base64Encoded: true };
      return {};
    });
  }

  /** Crashes the page. Its event comes later, as in a real browser. */
  crash(): void {
    this.#isCrashed = true;
    setImmediate(() => this.emit('Inspector.targetCrashed'));
  }
}

let pids = 0;

/**
 * A fake browser for tests of the pool. It implements the part of the DevTools protocol that the pool and its pages
 * use, and dies, crashes and hangs on demand. The PDF of a document is `%PDF-` and its HTML.
 * test/long/print-pool.test.ts tests a real browser in these situations.
 */
export class FakeChromium extends EventEmitter {
  readonly pid = ++pids;
  readonly executable = 'fake';
  readonly sandboxed = true;
  readonly browser = { connected: true };
  readonly pages = new Map<string, FakePage>();
  /** Called before each command, and after each answer. */
  onCommand: (command: FakeCommand, when: 'before' | 'after') => void = () => undefined;
  /** Whether a command is left unanswered. */
  hangs: (command: FakeCommand) => boolean = () => false;
  /** Whether opening pages fails. */
  isBroken = false;
  readonly #exited = Promise.withResolvers<void>();
  readonly exited = this.#exited.promise;
  #waiting = new Set<(error: Error) => void>();
  #opened = 0;

  constructor() {
    super();
    this.#open();
  }

  /** Returns what the pool gets from a launch. */
  launched(): LaunchedChromium {
    const { executable, pid, sandboxed, browser, exited } = this;
    const given = { executable, pid, sandboxed, browser, exited, control: this };
    return { ...given, close: () => this.close(), kill: () => this.kill() } as unknown as LaunchedChromium;
  }

  connection() {
    return { session: (id: string) => this.pages.get(id) };
  }

  send(method: string, { targetId = '' }: { targetId?: string } = {}): Promise<object> {
    return this.answer({ method, page: null }, () => {
      if (method === 'Target.getTargets')
        return { targetInfos: [...this.pages.keys()].map((id) => ({ type: 'page', targetId: id })) };
      if (method === 'Target.createTarget') {
        if (this.isBroken) throw new Error('no renderer starts');
        return { targetId: this.#open() };
      }
      if (method === 'Target.attachToTarget') return { sessionId: targetId };
      if (method === 'Target.closeTarget') this.#detach(targetId);
      return {};
    });
  }

  answer(command: FakeCommand, make: () => object): Promise<object> {
    this.onCommand(command, 'before');
    const answered = new Promise<object>((resolve, reject) => {
      if (!this.browser.connected) return reject(new Error('the pipe is closed'));
      this.#waiting.add(reject);
      if (command.page?.isCrashed || this.hangs(command)) return;
      setImmediate(() => {
        this.#waiting.delete(reject);
        if (command.page?.isCrashed) return;
        try {
          resolve(make());
        } catch (error) {
          reject(error);
        }
      });
    });
    return answered.finally(() => this.onCommand(command, 'after'));
  }

  /** Ends the browser and its pages immediately; unanswered commands are rejected. */
  kill(): void {
    if (!this.browser.connected) return;
    this.browser.connected = false;
    for (const reject of this.#waiting) reject(new Error('the pipe is closed'));
    for (const id of [...this.pages.keys()]) this.#detach(id);
    setImmediate(() => this.#exited.resolve());
  }

  async close(): Promise<void> {
    this.kill();
    await this.exited;
  }

  #open(): string {
    const id = `page ${++this.#opened}`;
    this.pages.set(id, new FakePage(this, id));
    return id;
  }

  #detach(id: string): void {
    const page = this.pages.get(id);
    if (!page) return;
    page.detached = true;
    this.pages.delete(id);
    this.emit('sessiondetached', page);
  }
}
