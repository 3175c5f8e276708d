import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import { isLoopback } from '../domain/arrival.ts';
import type { MostConnections } from '../domain/connections.ts';
import { limitedAddress } from './client-address.ts';

export interface ConnectionLimits extends MostConnections {
  /** Whether the process has no file descriptors left for clients, whatever uses them. */
  readonly isShort: () => boolean;
}

export const UNLIMITED: ConnectionLimits = {
  total: Number.POSITIVE_INFINITY,
  perAddress: null,
  isShort: () => false,
};

/**
 * How long a refused client may take to read the refusal, in milliseconds, and how many refused clients may do so at
 * once.
 */
const [LINGER_MS, MOST_LINGERING] = [1000, 100];
/**
 * Fraction of the maximum number of connections from which on file descriptors are checked. Fewer connections cannot
 * use them up.
 */
const CAREFUL_FROM = 1 / 8;
/** Minimum time between two log entries about refusals, milliseconds. */
const LOG_MS = 60_000;

export interface Admission {
  /** Whether a request is on a connection that was refused and has been answered. */
  readonly isRefused: (socket: Socket) => boolean;
  /**
   * From this call on, refused clients are answered and refusals are logged.
   * @param answer returns the bytes of the answer
   */
  answer(answer: () => string, log: Pick<Logger, 'warn'>): void;
}

/**
 * Limits the connections of a server. Beyond a limit, a new connection is answered with a refusal, whatever it sends,
 * and existing ones continue. Connections from this machine count for the total only, because they come from a proxy or
 * the operator.
 */
export function limitConnections(server: Server, { total, perAddress, isShort }: ConnectionLimits): Admission {
  const byAddress = new Map<string, number>();
  const refused = new WeakSet<Socket>();
  let open = 0;
  let lingering = 0;
  let answerText: (() => string) | null = null;
  let logged = Number.NEGATIVE_INFINITY;
  let unlogged = 0;
  let warn: (why: string) => void = () => undefined;

  /** Returns why there is no place for a connection; null if there is one. */
  function fullFor(address: string | null): string | null {
    if (open >= total) return 'the process has its most connections';
    if (address !== null && (byAddress.get(address) ?? 0) >= (perAddress ?? 0)) return 'the address has its most';
    return open >= total * CAREFUL_FROM && isShort() ? 'the process has no further files for clients' : null;
  }

  function refuse(socket: Socket): void {
    refused.add(socket);
    socket.end(answerText?.() ?? '');
    if (answerText === null || lingering >= MOST_LINGERING) return void socket.destroySoon();
    lingering++;
    const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
    socket.once('close', () => {
      lingering--;
      clearTimeout(timer);
    });
  }

  server.on('connection', (socket: Socket) => {
    const { remoteAddress = '' } = socket;
    const address = perAddress === null || isLoopback(remoteAddress) ? null : limitedAddress(remoteAddress);
    const full = fullFor(address);
    if (full !== null) {
      warn(full);
      return refuse(socket);
    }
    open++;
    if (address !== null) byAddress.set(address, (byAddress.get(address) ?? 0) + 1);
    socket.once('close', () => {
      open--;
      if (address === null) return;
      const left = (byAddress.get(address) ?? 1) - 1;
      if (left > 0) byAddress.set(address, left);
      else byAddress.delete(address);
    });
  });

  return {
    isRefused: (socket) => refused.has(socket),
    answer(answer, log) {
      answerText = answer;
      warn = (why) => {
        unlogged++;
        const now = performance.now();
        if (now - logged < LOG_MS) return;
        log.warn({ why, open, most: total, refused: unlogged }, 'connections are refused');
        logged = now;
        unlogged = 0;
      };
    },
  };
}
