import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

// Runs the receiver of `webhooks` in its own process. Requests to `/dead…` are never answered. Times are those of the
// machine's monotonic clock.

/**
 * A request to the receiver: forget all arrivals, or answer when `count` deliveries have arrived at paths that are
 * alive.
 */
export type ReceiverRequest = { forget: true } | { count: number };
export type ReceiverMessage = { url: string } | { arrivals: [id: string, atMs: number][] };

let arrivals: [string, number][] = [];
let wanted = Number.POSITIVE_INFINITY;

const server = createServer((request, response) => {
  if (request.url?.startsWith('/dead')) return void request.resume();
  arrivals.push([String(request.headers['webhook-id']), Number(process.hrtime.bigint()) / 1e6]);
  request.resume().on('end', () => response.writeHead(200).end());
  tellIfDone();
});
server.keepAliveTimeout = 60_000;

function tellIfDone(): void {
  if (arrivals.length < wanted) return;
  wanted = Number.POSITIVE_INFINITY;
  process.send?.({ arrivals } satisfies ReceiverMessage);
}

process.on('message', (message: ReceiverRequest) => {
  if ('forget' in message) {
    arrivals = [];
    return;
  }
  wanted = message.count;
  tellIfDone();
});
process.once('disconnect', () => process.exit(0));
server.listen(0, '127.0.0.1', () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` } satisfies ReceiverMessage);
});
