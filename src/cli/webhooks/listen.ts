import { randomBytes } from 'node:crypto';
import type { Environment } from '../../domain/tenant/tenant.ts';
import { timestampOf } from '../../domain/timestamp.ts';
import { isSuccess, type SendResult } from '../../domain/webhook/delivery.ts';
import type { WebhookSender } from '../../domain/webhook/ports.ts';
import { deliveryHeaders, signingKey } from '../../domain/webhook/signature.ts';
import { type Command, INTERRUPTED, UsageError } from '../command.ts';
import { interruptible } from '../interruption.ts';
import { httpUrl } from '../service-address.ts';
import { harmless, type Terminal } from '../terminal.ts';
import { accessOf, followEvents, SERVICE_OPTIONS, type StreamedEvent } from './service.ts';

export const listen: Command = {
  name: 'listen',
  summary: "Prints the tenant's events, and forwards them to a local server, signed",
  positionals: [],
  options: {
    ...SERVICE_OPTIONS,
    'forward-to': {
      value: 'URL',
      description: 'Address of the local server: localhost:4000/hook; without it, only print',
    },
    json: { description: 'Print each event as an object on a line' },
    secret: { value: 'SECRET', description: 'Signing secret (whsec_…); default: a new one, which is shown' },
  },
  details: `No webhook endpoint is needed or created: the service streams the events as they happen, including test events and resends.
After a lost connection the stream resumes where it stopped. Stop it with Ctrl-C, exit code 130.`,
  async run(input, context) {
    const { terminal } = context;
    const access = await accessOf(input, context);
    const forwardTo = input.find('forward-to');
    const target = forwardTo === null ? null : httpUrl(forwardTo, '--forward-to', true);
    const isJson = input.has('json');
    const secret = input.find('secret') ?? `whsec_${randomBytes(32).toString('base64')}`;
    if (!secret.startsWith('whsec_')) throw new UsageError('--secret must begin with whsec_');
    const sender = target === null ? null : (await context.parts.localSender()).localSender();
    return interruptible(async (signal) => {
      // With --json, standard output contains only objects.
      const say = (text: string) => (isJson ? terminal.remark(text) : terminal.print(text));
      say(
        target === null
          ? `Events of ${access.url}:`
          : `Forwarding events of ${access.url} to ${target}, signed with ${secret}`,
      );
      let state: string | null | undefined;
      const onState = (trouble: string | null) => {
        if (trouble === state) return;
        state = trouble;
        terminal.remark(trouble === null ? 'Listening.' : `${harmless(trouble)}; retrying…`);
      };
      // Forwards one event at a time, so that the local server receives them in order.
      for await (const streamed of followEvents(access, signal, onState)) {
        const { body } = streamed.event;
        if (isJson) terminal.print(JSON.stringify(JSON.parse(body)));
        if (sender && target !== null)
          await forward(streamed, access.environment, target, secret, sender, say, terminal);
        else if (!isJson) terminal.print(lineOf(body));
      }
      return signal.aborted ? INTERRUPTED : 1;
    }).finally(() => sender?.close());
  },
};

/** Sends the event in the same form as to a webhook endpoint. */
async function forward(
  { event, manual }: StreamedEvent,
  environment: Environment,
  target: string,
  secret: string,
  sender: WebhookSender,
  say: (text: string) => void,
  { style }: Pick<Terminal, 'style'>,
): Promise<void> {
  const at = new Date();
  const content = { eventId: event.id, body: event.body, at, environment, manual };
  const headers = deliveryHeaders(content, [signingKey(secret)]);
  const result = await sender.send({ url: target, headers, body: event.body });
  const outcome = style(isSuccess(result) ? 'green' : 'red', harmless(outcomeOf(result)));
  const took = Math.round(result.latencyMs);
  say(`${timestampOf(at)}  ${harmless(String(JSON.parse(event.body).type))}  ${event.id}  →  ${outcome}  ${took} ms`);
}

/** Formats an event as one line: its time, its type, its id, and the invoice with its status. */
function lineOf(body: string): string {
  const { id, type, created, data } = JSON.parse(body);
  return harmless(`${timestampOf(new Date(created * 1000))}  ${type}  ${id}  ${data.id}  ${data.status}`);
}

function outcomeOf({ status, failure }: SendResult): string {
  return status === null ? (failure?.message ?? 'no answer') : String(status);
}
