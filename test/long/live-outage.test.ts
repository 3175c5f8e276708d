import { expect, it } from 'vitest';
import type { FaultRule } from '../../scripts/authority-simulator/faults.ts';
import type { InvoiceDocument } from '../../src/storage/invoice-document.ts';
import { invoiceBody } from '../support/client.ts';
import { flawsOfOutage, runLiveOutage, withLiveService } from '../support/live-outage.ts';

it('an outage of 150 s with 500 waiting burns no attempt; they are drained at the concurrency, fairly', async ({
  signal,
}) => {
  // Probes are a minute apart at the end.
  const plan = { big: 480, small: 20, concurrency: 8, outageMs: 150_000, answerMs: 500, signal };
  expect(flawsOfOutage(plan, await runLiveOutage(plan))).toEqual([]);
});

const cut = { kind: 'timeout-after-body', delay: 300 } as const;

/**
 * Every submission is cut off; the last one arrived if `arrives`. Of the look-ups each second one is answered until
 * there were five submissions, and none after that.
 */
function fiveTimeOuts(arrives: boolean): FaultRule[] {
  const failing = { kind: 'bare-error', calls: ['lookup'] } as const;
  return [
    { ...cut, calls: ['submit'], registered: false, times: 4 },
    { ...cut, calls: ['submit'], registered: arrives },
    // A rule does not see the calls to which an earlier one happened.
    ...[1, 2, 3, 4].map((nth) => ({ ...failing, nth })),
    ...Array.from({ length: 50 }, () => ({ ...failing, nth: 5 })),
  ];
}

it.each([
  ['arrived', true],
  ['did not arrive', false],
])(
  'five time-outs while look-ups fail, then an outage and kill -9: the last one %s',
  async (_what, arrives) => {
    const signal = AbortSignal.timeout(170_000);
    const environment = { DGI_RETRY_SCHEDULE: '0s,1s,1s,1s,1s' };
    await withLiveService({ decisionDelay: 0 }, environment, signal, async ({ simulator, server, ...live }) => {
      const { control } = simulator;
      const called = (name: string) => control.counters().calls[name] ?? 0;
      for (const rule of fiveTimeOuts(arrives)) control.addFault(rule);
      const { body } = await (await live.liveClient()).post('/v1/invoices', invoiceBody());
      const stored = () =>
        live.withStore(async (db) => await db.collection<InvoiceDocument>('invoices').findOne({ _id: body.id }));
      // The look-up after the fifth submission has failed, too.
      await expect.poll(() => [called('submit'), called('lookup') >= 9], { timeout: 90_000 }).toEqual([5, true]);
      control.setMaintenance({ scope: 'all', retryAfter: 1 });
      await server.kill();
      control.resetCounters();
      await server.start();
      // It asks, and is told nothing.
      await expect.poll(() => called('lookup') + called('capabilities') + called('token')).toBeGreaterThan(3);
      expect((await stored())?.status).toBe('signing');
      expect(called('submit')).toBe(0);
      control.reset();
      await expect.poll(async () => (await stored())?.status, { timeout: 60_000 }).toBe('accepted');
      const invoice = await stored();
      expect(control.ledger()).toMatchObject([
        { id: body.id, digest: invoice?.xml?.sha256, dgi_id: invoice?.dgiId, status: 'accepted' },
      ]);
      expect(control.counters().ledger.doubled).toEqual([]);
      // It is sent again only after a look-up has proved that it is not held.
      expect(called('submit')).toBe(arrives ? 0 : 1);
      expect(invoice?.events.map(({ status }) => status)).toEqual(['signing', 'transmitted', 'accepted']);
    });
  },
  180_000,
);
