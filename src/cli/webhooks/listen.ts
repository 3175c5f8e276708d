import { randomBytes } from 'node:crypto';
import { signatureHeaders, signingKey } from '../../domain/webhook/signature.ts';
import { type Command, UsageError } from '../command.ts';
import { harmless, type Terminal } from '../terminal.ts';
import { accessOf, followEvents, httpUrl, SERVICE_OPTIONS, type StreamedEvent } from './service.ts';

/** How long the local server may take. */
const FORWARD_MS = 15_000;
const INTERRUPTED = 130;

export const listen: Command = {
  name: 'listen',
  summary: "Forwards the tenant's events to a local server, signed",
  positionals: [],
  options: {
    ...SERVICE_OPTIONS,
    'forward-to': { value: 'URL', required: true, description: 'The local server: http://localhost:4000/hook' },
    secret: { value: 'SECRET', description: 'What to sign with (whsec_…); a new one is made and shown unless given' },
  },
  details: `No webhook endpoint is needed and none is made: events come over the service's own stream, as they happen, test events
and resends included. After a lost connection it goes on where it was. Ends with Ctrl-C.`,
  async run(input, context) {
    const { terminal } = context;
    const access = accessOf(input, context);
    const target = httpUrl(input.get('forward-to'), '--forward-to');
    const secret = input.find('secret') ?? `whsec_${randomBytes(32).toString('base64')}`;
    if (!secret.startsWith('whsec_')) throw new UsageError('--secret must begin with whsec_');
    const interruption = new AbortController();
    const interrupt = () => interruption.abort();
    process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
    try {
      terminal.print(`Events of ${access.url} go to ${target}, signed with ${secret}`);
      const onState = (lost: string | null) =>
        terminal.remark(lost === null ? 'Listening.' : `The stream is lost (${harmless(lost)}); trying again…`);
      // One after the other: a server that is being written gets them in order.
      for await (const streamed of followEvents(access, interruption.signal, onState)) {
        await forward(streamed, target, secret, terminal);
      }
      return interruption.signal.aborted ? INTERRUPTED : 1;
    } finally {
      process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
    }
  },
};

async function forward({ event }: StreamedEvent, target: string, secret: string, terminal: Terminal): Promise<void> {
  const at = new Date();
  const outcome = await fetch(target, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      ...signatureHeaders({ eventId: event.id, body: event.body, at }, [signingKey(secret)]),
    },
    body: event.body,
    redirect: 'manual',
    signal: AbortSignal.timeout(FORWARD_MS),
  }).then(
    async (response) => {
      await response.body?.cancel();
      return terminal.style(response.ok ? 'green' : 'red', String(response.status));
    },
    (error: Error) => terminal.style('red', harmless((error.cause as Error | undefined)?.message || error.message)),
  );
  const took = Date.now() - at.getTime();
  terminal.print(`${at.toISOString().slice(11, 19)}  ${event.type}  ${event.id}  →  ${outcome}  ${took} ms`);
}
