import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { Agent, request } from 'undici';
import type { Clock } from './clock.ts';
import type { Counters } from './counters.ts';
import type { Faults } from './faults.ts';

/** A callback to send, as the control port requests it. */
export interface Announcement {
  readonly id: string;
  readonly status: string;
  /** Whether it is signed with another secret. */
  readonly forged?: boolean | undefined;
  /** Age of its time stamp, milliseconds. */
  readonly age?: number | undefined;
}

export interface Callbacks {
  /** Announces a decision, with the faults of callbacks. Nothing waits for it. */
  announce(id: string, status: string): void;
  /** Sends one callback once. @returns the status of the answer, 0 when there was none */
  send(announcement: Announcement): Promise<number>;
  close(): Promise<void>;
}

/** Delays before the attempts, milliseconds. There are few, because a callback is only a hint. */
const ATTEMPTS = [0, 1_000, 5_000, 30_000];
const MAX_WAITING = 10_000;
const CONCURRENT = 8;
const LATE = 5_000;

/**
 * Creates the callbacks of decisions (Standard Webhooks). At most 10,000 wait; further ones are dropped.
 * @param url their target; null: none are sent
 */
export function createCallbacks({
  url,
  secret,
  clock,
  counters,
  faults,
}: {
  readonly url: string | null;
  readonly secret: string;
  readonly clock: Clock;
  readonly counters: Counters;
  readonly faults: Faults;
}): Callbacks {
  const agent = new Agent({ connections: CONCURRENT, connectTimeout: 5_000 });
  const stop = new AbortController();
  const webhook = new Webhook(secret);
  const other = new Webhook(`whsec_${randomBytes(32).toString('base64')}`);
  let waiting = 0;

  async function post(announcement: Announcement, messageId: string): Promise<number> {
    if (url === null) return 0;
    const body = JSON.stringify({ id: announcement.id, status: announcement.status });
    const time = new Date(clock.now() - (announcement.age ?? 0));
    const headers = {
      'content-type': 'application/json',
      'webhook-id': messageId,
      'webhook-timestamp': String(Math.floor(time.getTime() / 1000)),
      'webhook-signature': (announcement.forged ? other : webhook).sign(messageId, time, body),
    };
    try {
      const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(15_000)]);
      const answer = await request(url, { method: 'POST', headers, body, dispatcher: agent, signal });
      await answer.body.dump();
      return answer.statusCode;
    } catch {
      return 0;
    }
  }

  async function deliver(announcement: Announcement, messageId = newMessageId()): Promise<void> {
    for (const delay of ATTEMPTS) {
      await sleep(delay, undefined, { signal: stop.signal });
      const status = await post(announcement, messageId);
      if (status >= 200 && status < 300) return counters.callback('sent');
      // A forged one is refused rightly.
      if (announcement.forged) break;
    }
    counters.callback('failed');
  }

  async function announce(id: string, status: string): Promise<void> {
    const fault = faults.choose('callback', { id, number: null });
    if (fault?.kind === 'callback-lost') return counters.callback('dropped');
    if (fault?.kind === 'callback-late') await sleep(fault.rule.delay ?? LATE, undefined, { signal: stop.signal });
    const messageId = newMessageId();
    for (let sent = 0; sent < (fault?.kind === 'callback-replayed' ? 3 : 1); sent++)
      await deliver({ id, status, forged: fault?.kind === 'callback-forged' }, messageId);
  }

  return {
    announce(id, status) {
      if (url === null) return;
      if (waiting >= MAX_WAITING) return counters.callback('dropped');
      waiting++;
      announce(id, status)
        // Stopping ends the waits.
        .catch(() => undefined)
        .finally(() => {
          waiting--;
        });
    },
    async send(announcement) {
      const status = await post(announcement, newMessageId());
      counters.callback(status >= 200 && status < 300 ? 'sent' : 'failed');
      return status;
    },
    async close() {
      stop.abort();
      await agent.destroy();
    },
  };
}

function newMessageId(): string {
  return `msg_${randomUUID()}`;
}
