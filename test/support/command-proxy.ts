import { connect, createServer, type Socket } from 'node:net';
import { type Document, deserialize } from 'bson';

/** A proxy between a process and its store that counts the commands of the process. */
export interface CommandProxy {
  /** The address of the store for the process. */
  readonly uri: string;
  /**
   * Counts commands from now on.
   * @param most number of commands that pass. The next command and all later ones do not reach the store: all
   *   connections of the process are cut
   * @returns resolves when a command is held back
   */
  count(most: number): Promise<void>;
  /** The commands that have passed since `count`, such as `insert invoices`, and the one that was held back. */
  seen(): { readonly passed: readonly string[]; readonly held: string | null };
  /** Resolves when the store has executed all passed commands and its connections are closed. */
  drained(): Promise<void>;
  /** Lets all commands pass again, without counting. */
  open(): void;
  close(): Promise<void>;
}

const OP_MSG = 2013;

/**
 * Starts a proxy on a port of its own.
 * @param target the address of one store, a host and port or a socket
 * @param isCounted whether a command counts, by its name and document
 */
export async function startCommandProxy(
  target: string,
  isCounted: (name: string, command: Document) => boolean,
): Promise<CommandProxy> {
  const address = new URL(target);
  const host = decodeURIComponent(address.host);
  const downstreams = new Set<Socket>();
  const upstreams = new Set<Socket>();
  let left = Number.POSITIVE_INFINITY;
  let isCut = false;
  let passed: string[] = [];
  let held: string | null = null;
  let onHeld: (() => void) | null = null;

  /** @returns false if no more commands pass */
  function passes(message: Buffer): boolean {
    const label = isCut || onHeld === null ? null : labelOf(message, isCounted);
    if (label === null) return !isCut;
    if (passed.length < left) {
      passed.push(label);
      return true;
    }
    held = label;
    isCut = true;
    for (const downstream of downstreams) downstream.destroy();
    onHeld?.();
    return false;
  }

  const server = createServer((downstream) => {
    if (isCut) return void downstream.destroy();
    const upstream = host.startsWith('/') ? connect(host) : connect(Number(address.port), address.hostname);
    downstreams.add(downstream);
    upstreams.add(upstream);
    downstream.on('error', () => undefined);
    upstream.on('error', () => undefined);
    downstream.on('close', () => {
      downstreams.delete(downstream);
      // The store still executes the commands that it has received.
      upstream.unpipe().resume().end();
    });
    upstream.on('close', () => {
      upstreams.delete(upstream);
      downstream.destroy();
    });
    upstream.pipe(downstream);
    let received: Buffer = Buffer.alloc(0);
    downstream.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      while (received.length >= 4 && received.length >= received.readInt32LE(0)) {
        const message = received.subarray(0, received.readInt32LE(0));
        received = received.subarray(message.length);
        if (!passes(message)) return;
        upstream.write(message);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // Otherwise the driver would connect to the address that the store states.
  const { port } = server.address() as { port: number };
  const uri = `mongodb://127.0.0.1:${port}${address.pathname}?directConnection=true`;
  const drained = async () => {
    await Promise.all([...upstreams].map((upstream) => new Promise((resolve) => upstream.once('close', resolve))));
  };
  return {
    uri,
    count(most) {
      [passed, held, left] = [[], null, most];
      return new Promise((resolve) => {
        onHeld = resolve;
      });
    },
    seen: () => ({ passed, held }),
    drained,
    open() {
      [isCut, onHeld] = [false, null];
    },
    async close() {
      for (const downstream of downstreams) downstream.destroy();
      await drained();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Returns the command with its collection; null if it does not count. */
function labelOf(message: Buffer, isCounted: (name: string, command: Document) => boolean): string | null {
  // The driver sends a command as the first section.
  if (message.readInt32LE(12) !== OP_MSG || message[20] !== 0) return null;
  const command = deserialize(message.subarray(21, 21 + message.readInt32LE(21)));
  const [name = '', collection] = Object.entries(command)[0] ?? [];
  return isCounted(name, command) ? `${name} ${collection}` : null;
}
