import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { COMPILED_MODULES } from '../../src/compile-cache.ts';

/** A process that answers each message with one message. */
export interface BenchProcess<Ready, Request, Answer> {
  readonly pid: number;
  /** The message that the process sent when it was ready. */
  readonly ready: Ready;
  /**
   * Asks, and waits for the answer. One request at a time.
   * @throws when the process answers with an `error`, or ends
   */
  ask(request: Request): Promise<Answer>;
  /** Disconnects, at which the process must end, and waits for its end. */
  close(): Promise<void>;
}

/** The options of Node with which `npm start` runs the service. */
export const SERVICE_OPTIONS: readonly string[] = readStartScript()
  .split(' ')
  .filter((word) => word.startsWith('--'));

function readStartScript(): string {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const { start } = (manifest as { readonly scripts: { readonly start: string } }).scripts;
  // The second command is for a shell without `exec`.
  return start.split('||')[0] ?? '';
}

/**
 * Starts a module of this folder as a process and waits until it sends its first message.
 * @param execArgv options of Node besides those of this process
 * @throws when it ends before that
 */
export async function startProcess<Ready, Request, Answer>(
  file: string,
  args: readonly string[] = [],
  execArgv: readonly string[] = [],
): Promise<BenchProcess<Ready, Request, Answer>> {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), args, {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    execArgv: [...process.execArgv, ...execArgv],
    // As `npm start` does.
    env: { NODE_COMPILE_CACHE: COMPILED_MODULES, ...process.env },
  });
  const exited = once(child, 'exit');
  const ended = exited.then(([code]) => {
    throw new Error(`the process of ${file} ended with code ${code}`);
  });
  ended.catch(() => undefined);

  async function heard(): Promise<unknown> {
    const end = new AbortController();
    try {
      const [message] = await Promise.race([once(child, 'message', { signal: end.signal }), ended]);
      return message;
    } finally {
      end.abort();
    }
  }

  const ready = (await heard()) as Ready;
  return {
    pid: child.pid ?? 0,
    ready,
    async ask(request) {
      const answer = heard();
      child.send(request as object);
      const message = (await answer) as Answer | { readonly error: string };
      if (typeof message === 'object' && message !== null && 'error' in message) throw new Error(message.error);
      return message;
    },
    async close() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.disconnect();
      await exited;
    },
  };
}

/**
 * Answers the messages of the process that started this one, in their order, and calls `close` when it disconnects.
 * @param answer its result is sent back; an error is sent as `error`
 */
export function serveRequests<Request>(
  answer: (request: Request) => Promise<object>,
  close: () => Promise<void>,
): void {
  let last: Promise<unknown> = Promise.resolve();
  process.on('message', (request: Request) => {
    last = last
      .then(() => answer(request))
      .catch((error: Error) => ({ error: error.stack ?? error.message }))
      .then((message) => process.connected && process.send?.(message));
  });
  process.once('disconnect', async () => {
    await close();
    process.exit(0);
  });
}
