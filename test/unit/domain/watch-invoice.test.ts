import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { eventOfStatus } from '../../../src/domain/event.ts';
import type { InvoiceNews } from '../../../src/domain/invoice/feed.ts';
import type { InvoiceEvent } from '../../../src/domain/invoice/invoice.ts';
import { createWatchInvoice } from '../../../src/domain/invoice/watch-invoice.ts';
import { pendingInvoice } from '../../support/invoices.ts';

const STATUSES = ['signing', 'transmitted', 'accepted'] as const;

/** One invoice whose changes, feed messages and reads are steps of the test. */
function world() {
  const stored: InvoiceEvent[] = [];
  const news: InvoiceEvent[][] = [];
  const reads: (() => void)[] = [];
  const listeners = new Set<(news: InvoiceNews) => void>();
  const invoiceNow = () => ({
    ...pendingInvoice({ id: 'inv_1' }),
    status: stored.at(-1)?.status ?? ('pending' as const),
    events: [...stored],
  });
  const watch = createWatchInvoice(
    async () => {
      const before = invoiceNow();
      const early = reads.length % 2 === 0;
      await new Promise<void>((resolve) => reads.push(resolve));
      return early ? before : invoiceNow();
    },
    {
      subscribe(_id, listener) {
        // Messages on their way to other listeners reach this one as well.
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
  );
  const tell = (events: readonly InvoiceEvent[]) => {
    for (const listener of listeners) listener({ invoiceId: 'inv_1', events, documentStored: false });
  };
  return {
    stored,
    listeners,
    watch: (after: string | null) => watch({ kind: 'client', invoiceId: 'inv_1' }, 'inv_1', null, after),
    change() {
      const sequence = stored.length + 1;
      const status = STATUSES[sequence - 1];
      if (!status) return;
      const event = { id: `evt_${sequence}`, sequence, type: eventOfStatus('invoice', status), status } as InvoiceEvent;
      stored.push(event);
      news.push([event]);
    },
    deliver: () => tell(news.shift() ?? []),
    /** After a gap all events may repeat. */
    repeat: () => tell([...stored]),
    answer: () => reads.shift()?.(),
    idle: () => news.length === 0 && reads.length === 0,
  };
}

it('invoiceStatus sends each change once and in order, however slow or repeated the messages around its start are', async () => {
  const step = fc.constantFrom('change', 'deliver', 'deliver', 'repeat', 'answer', 'take', 'take', 'open', 'close');
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), fc.nat(3), async (steps, earlier) => {
      const on = world();
      for (let i = 0; i < earlier; i++) on.change();
      const told: InvoiceEvent[] = [];
      let stream: Awaited<ReturnType<typeof on.watch>> | null = null;
      let [session, taking, ended] = [0, false, false];
      const open = async () => {
        const mine = ++session;
        void stream?.return?.();
        [stream, taking] = [null, false];
        const opened = await on.watch(told.at(-1)?.id ?? null);
        if (mine === session) stream = opened;
        else void opened.return?.();
      };
      const take = () => {
        if (!stream || taking) return;
        taking = true;
        const mine = session;
        void stream.next().then(({ done, value }) => {
          if (mine !== session) return;
          taking = false;
          if (done) ended = true;
          else told.push(value.event);
        });
      };
      void open();
      for (const each of steps) {
        if (each === 'change') on.change();
        else if (each === 'deliver') on.deliver();
        else if (each === 'repeat') on.repeat();
        else if (each === 'answer') on.answer();
        else if (each === 'take') take();
        else if (each === 'open') void open();
        else void (stream as AsyncIterableIterator<unknown> | null)?.return?.();
        await turn();
      }
      ended = false;
      void open();
      while (on.stored.length < STATUSES.length) on.change();
      for (let i = 0; !ended && i < 200; i++) {
        on.answer();
        on.deliver();
        await turn();
        take();
        await turn();
      }
      const sequences = told.map(({ sequence }) => sequence);
      expect(ended).toBe(true);
      // From the status at the start to the final one, without a gap.
      expect(sequences).toEqual(STATUSES.map((_, i) => i + 1).slice((sequences[0] ?? 0) - 1));
      expect(sequences.length).toBeGreaterThan(0);
      expect(on.listeners.size).toBe(0);
    }),
    { numRuns: 500 },
  );
});
