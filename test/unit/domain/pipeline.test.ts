import { describe, expect, it, vi } from 'vitest';
import { OPEN_GATE } from '../../../src/domain/authority/gate.ts';
import type { Authority, Decision, SubmitAnswer } from '../../../src/domain/authority/ports.ts';
import { attentionOf } from '../../../src/domain/invoice/attention.ts';
import { type InvoiceMail, type Mailer, MailNotSent } from '../../../src/domain/invoice/email.ts';
import { type Invoice, NEW_WORK } from '../../../src/domain/invoice/invoice.ts';
import { createPipeline } from '../../../src/domain/invoice/pipeline.ts';
import { type DocumentSigner, InvalidDocument, type InvoiceWriter } from '../../../src/domain/invoice/ports.ts';
import { ClaimLost, type InvoiceRepository } from '../../../src/domain/invoice/repository.ts';
import { legalNumber } from '../../../src/domain/invoice/series-number.ts';
import { SigningFailed } from '../../../src/domain/invoice/signing-key.ts';
import { EMAIL_SCHEDULE } from '../../../src/domain/invoice/stages/email.ts';
import { LEASE_MS, type PipelineReport } from '../../../src/domain/invoice/stages/stage.ts';
import { absent, answering, held, notHeld, unknown } from '../../support/authority.ts';
import { pendingInvoice } from '../../support/invoices.ts';

const SCHEDULE = [0, 10, 20, 30, 40];
const ACCEPTED: Decision = { outcome: 'accepted', dgiId: 'DGI-1', decidedAt: new Date() };
const accepted = () => held(ACCEPTED);
const notReceived = async () => notHeld('unavailable', '503');

/** One invoice and its pipeline. Every claim succeeds, as if the last worker were dead or the pause were over. */
function bench(
  authority: Partial<Pick<Authority, 'submit' | 'lookUp' | 'capabilities'>>,
  parts: Partial<{
    writer: InvoiceWriter;
    signerOf: (invoice: Invoice) => DocumentSigner;
    render: () => Promise<Uint8Array>;
    mailer: Mailer;
    email: string;
    invoice: Partial<Invoice>;
  }> = {},
) {
  let invoice: Invoice = pendingInvoice({
    ...parts.invoice,
    customer: { ...pendingInvoice({}).customer, email: parts.email ?? null },
  });
  let holder = 0;
  const pauses: number[] = [];
  const reports: PipelineReport[] = [];
  const calls: string[] = [];
  const renewals: number[] = [];
  const leases: number[] = [];
  const invoices = {
    claimMany: async () => {
      if (!invoice.work) return [];
      invoice = { ...invoice, work: { ...invoice.work, claims: invoice.work.claims + 1 } };
      return [{ invoice, token: String(++holder) }];
    },
    renew: async (held) => {
      for (const { leaseMs } of held) {
        renewals.push(Date.now());
        leases.push(leaseMs);
      }
      return held.length;
    },
    change: async (claim, { work, events = [], series, ...fields }) => {
      if (claim.token !== String(holder) || claim.invoice.status !== invoice.status) throw new ClaimLost('lost');
      invoice = {
        ...invoice,
        ...fields,
        ...(series && { number: legalNumber(series) }),
        events: [...invoice.events, ...events],
        work: work && { ...NEW_WORK, ...work, dueAt: new Date(), claims: work.keep ? 1 : 0, since: new Date() },
      };
      if (work && !work.keep) pauses.push(work.in);
      return { invoice, token: claim.token };
    },
    changeAll: async (changes, leaseMs) =>
      Promise.all(changes.map(([claim, change]) => invoices.change(claim, change, leaseMs))),
    awaitingNumber: async () => [],
    seriesNumbersOf: async () => new Map(),
    highestSerial: async () => 0,
  } satisfies Partial<InvoiceRepository> as unknown as InvoiceRepository;
  const pipeline = createPipeline({
    invoices,
    documents: { put: async () => ({ file: 'f', sha256: 'ab', size: 1 }), get: async () => Buffer.from('<a/>') },
    turns: { enter: async () => () => undefined },
    queue: { enqueue: async () => {} },
    writer: parts.writer ?? { write: async () => ({ octets: Buffer.from('<a/>'), signatureAt: 0, sha256: '' }) },
    signerOf: parts.signerOf ?? (() => ({ sign: async () => Buffer.from('<a/>') })),
    authorityOf: () =>
      answering({
        receipt: async ({ dgiId }) => ({
          kind: 'receipt',
          requestId: null,
          receipt: {
            document: Buffer.from('<r/>'),
            submissionId: invoice.id,
            dgiId,
            sha256: invoice.xml?.sha256 ?? '',
            status: 'accepted',
            decidedAt: new Date(),
          },
        }),
        ...authority,
        submit: (submission) => {
          calls.push('submit');
          return (authority.submit ?? (async () => accepted()))(submission);
        },
        lookUp: (submission) => {
          calls.push('lookUp');
          return (authority.lookUp ?? (async () => absent()))(submission);
        },
      }),
    checkCleared: async () => null,
    gateOf: () => OPEN_GATE,
    renderer: { render: parts.render ?? (async () => Buffer.from('%PDF')) },
    logos: { find: async () => null },
    mailer: parts.mailer ?? { messageIdOf: (id) => `<${id}@example.test>`, send: async () => {} },
    publish: () => undefined,
    isErased: async () => false,
    isAwaited: () => true,
    verifyUrlOf: () => 'https://example.test',
    transmitSchedule: () => SCHEDULE,
    report: (report) => reports.push(report),
  });
  /** Claims the invoice if its work is due, and runs it. */
  async function run(): Promise<void> {
    const [claim] = await invoices.claimMany('stages', [invoice.id], LEASE_MS);
    if (claim) await pipeline.runClaimed(claim);
  }
  return {
    calls,
    renewals,
    leases,
    pauses,
    reports,
    get invoice() {
      return invoice;
    },
    /** The current {@link invoice}, also after the bench was spread into another object. */
    current: () => invoice,
    run,
    async runTimes(times: number) {
      for (let i = 0; i < times; i++) await run();
    },
    statuses: () => invoice.events.map(({ status }) => status).join(),
  };
}

it('a credit note passes through the stages of an invoice, with events of its own', async () => {
  const it = bench({ submit: async () => accepted() }, { invoice: { kind: 'credit_note' } });
  await it.runTimes(3);
  expect(it.invoice.events.map(({ type }) => type)).toEqual(
    ['signing', 'transmitted', 'accepted'].map((status) => `credit_note.${status}`),
  );
});

describe('transmission (docs/decisions/0009)', () => {
  it('fails after five attempts that are all known as not received', async () => {
    const it = bench({ submit: notReceived });
    await it.runTimes(4);
    expect(it.invoice.status).toBe('signing');
    await it.runTimes(4);
    expect(it.statuses()).toBe('signing,rejected');
    expect(it.invoice.rejectionReason).toMatch(/^dgi_transmission_failed: /);
    expect(it.calls.filter((call) => call === 'submit')).toHaveLength(5);
    expect(it.pauses).toEqual([10, 20, 30, 40]);
  });

  it('looks up after a lost reply, and sends no document again that the authority holds', async () => {
    const it = bench({ submit: async () => unknown(), lookUp: async () => accepted() });
    await it.runTimes(3);
    expect(it.calls).toEqual(['submit', 'lookUp']);
    expect(it.statuses()).toBe('signing,transmitted,accepted');
  });

  it('sends again only after a look-up that finds nothing', async () => {
    let sent = 0;
    const it = bench({ submit: async () => (++sent === 1 ? unknown() : accepted()) });
    await it.runTimes(3);
    expect(it.calls).toEqual(['submit', 'lookUp', 'submit']);
    expect(it.statuses()).toBe('signing,transmitted,accepted');
  });

  it('never fails while an outcome is unknown: look-ups continue at the last delay, and operators are notified', async () => {
    let lookUp: Authority['lookUp'] = async () => unknown();
    const it = bench({ submit: async () => unknown(), lookUp: (...args) => lookUp(...args) });
    await it.runTimes(12);
    expect(it.invoice.status).toBe('signing');
    expect(it.calls.filter((call) => call === 'submit')).toHaveLength(1);
    expect(it.pauses).toEqual([10, 20, 30, ...Array.from({ length: 9 }, () => 40)]);
    expect(it.reports.filter(({ level }) => level === 'error')).toHaveLength(8);
    lookUp = async () => accepted();
    await it.run();
    expect(it.statuses()).toBe('signing,transmitted,accepted');
  });

  it('fails late when a look-up finds that the last attempts were not received', async () => {
    let lookUp: Authority['lookUp'] = async () => absent();
    const it = bench({ submit: async () => unknown(), lookUp: (...args) => lookUp(...args) });
    await it.runTimes(5);
    lookUp = async () => unknown();
    await it.runTimes(8);
    expect(it.invoice.status).toBe('signing');
    lookUp = async () => absent();
    await it.run();
    expect(it.invoice.rejectionReason).toMatch(/^dgi_transmission_failed: /);
    expect(it.calls.filter((call) => call === 'submit')).toHaveLength(5);
  });

  it('counts no failed look-up as an attempt', async () => {
    let lookUp: Authority['lookUp'] = async () => unknown();
    const it = bench({ submit: async () => unknown(), lookUp: (...args) => lookUp(...args) });
    await it.runTimes(8);
    expect(it.invoice.work?.failures).toHaveLength(1);
    lookUp = async () => absent();
    await it.run();
    expect(it.calls.filter((call) => call === 'submit')).toHaveLength(2);
    expect(it.invoice.status).toBe('signing');
  });

  it('asks once more after the last attempt: an earlier one may have arrived late', async () => {
    const it = bench({ submit: notReceived, lookUp: async () => accepted() });
    await it.runTimes(5);
    expect(it.calls).toEqual([...Array.from({ length: 5 }, () => 'submit'), 'lookUp']);
    expect(it.statuses()).toBe('signing,transmitted,accepted');
  });

  it('continues with a look-up in another worker; a later reply to the first worker changes nothing', async () => {
    const reply = Promise.withResolvers<SubmitAnswer>();
    const it = bench({ submit: () => reply.promise, lookUp: async () => accepted() });
    const stalled = it.run();
    await expect.poll(() => it.calls).toEqual(['submit']);
    await it.run();
    expect(it.calls).toEqual(['submit', 'lookUp']);
    reply.resolve(accepted());
    await stalled;
    expect(it.statuses()).toBe('signing,transmitted,accepted');
  });

  it('treats an internal error as an unknown outcome', async () => {
    const it = bench({ submit: () => Promise.reject(new TypeError('defect')), lookUp: async () => accepted() });
    await it.runTimes(2);
    expect(it.calls).toEqual(['submit', 'lookUp']);
  });
});

describe('the record of the authority', () => {
  const recordOf = ({ authorityAttempts }: Invoice) =>
    authorityAttempts.map(({ purpose, outcome, message }) => [purpose, outcome, message].filter(Boolean).join(' '));

  it('has each call with its outcome, written by the next update', async () => {
    let sent = 0;
    const it = bench({
      submit: async () => (++sent === 1 ? unknown() : sent === 2 ? notReceived() : accepted()),
    });
    await it.run();
    expect(recordOf(it.invoice)).toEqual(['submit unknown no reply']);
    await it.runTimes(2);
    expect(recordOf(it.invoice)).toEqual([
      'submit unknown no reply',
      'look_up not_received',
      'submit not_received 503',
      'submit accepted',
      'receipt fetched',
    ]);
    expect(it.invoice.authorityAttempts[0]?.at).toBeInstanceOf(Date);
  });

  it('has the look-up of a decision, and the last attempt of a failed transmission', async () => {
    const problems = [{ code: 'ice_unknown', path: null, message: 'The ICE is unknown.' }];
    const it = bench({
      submit: async () => held(null, 1),
      lookUp: async () => held({ outcome: 'rejected', problems, decidedAt: new Date() }),
    });
    await it.runTimes(2);
    expect(recordOf(it.invoice)).toEqual(['submit received', 'look_up rejected The ICE is unknown.']);
    const lost = bench({ submit: notReceived });
    await lost.runTimes(6);
    expect(lost.invoice.status).toBe('rejected');
    expect(recordOf(lost.invoice).filter((each) => each === 'submit not_received 503')).toHaveLength(5);
  });

  it('hides the text of an internal error, truncates long messages, and has a limited length', async () => {
    const defect = bench({ submit: () => Promise.reject(new TypeError('secret of ours')) });
    await defect.run();
    expect(recordOf(defect.invoice)).toEqual([
      'submit unknown The call failed with an internal error of this service.',
    ]);
    let number = 0;
    const it = bench({
      submit: async () => unknown(),
      lookUp: async () => unknown(`${++number} ${'x'.repeat(600)}`),
    });
    await it.runTimes(80);
    const record = it.invoice.authorityAttempts;
    expect(record).toHaveLength(70);
    expect(record[0]).toMatchObject({ purpose: 'submit' });
    expect([record[9], record[10], record[69]].map((each) => Number(each?.message?.split(' ')[0]))).toEqual([
      9, 20, 79,
    ]);
    expect(record[69]?.message).toHaveLength(500);
  });
});

it('a lease is renewed well before it ends as long as a stage runs, and not afterwards', async () => {
  vi.useFakeTimers();
  try {
    const reply = Promise.withResolvers<SubmitAnswer>();
    const it = bench({ submit: () => reply.promise });
    const start = Date.now();
    const run = it.run();
    await vi.advanceTimersByTimeAsync(20_000);
    const pauses = it.renewals.map((at, i) => at - (it.renewals[i - 1] ?? start));
    expect(pauses.length).toBeGreaterThan(20_000 / LEASE_MS);
    // Two renewals may fail.
    expect(Math.max(...pauses)).toBeLessThan(LEASE_MS / 3);
    reply.resolve(accepted());
    await run;
    const { length } = it.renewals;
    await vi.advanceTimersByTimeAsync(20_000);
    expect(it.renewals).toHaveLength(length);
  } finally {
    vi.useRealTimers();
  }
});

describe('defects', () => {
  it('a stage that throws changes nothing, is reported, and is paused longer than a lease', async () => {
    const writer = {
      write: async () => {
        throw new TypeError('defect');
      },
    };
    const it = bench({}, { writer });
    await expect(it.run()).rejects.toThrow('defect');
    expect(it.invoice).toMatchObject({ status: 'pending', number: null, events: [] });
    expect(it.calls).toEqual([]);
    expect(it.leases).toEqual([15_000]);
  });

  it('that recur pause the invoice at growing intervals, up to an hour, and need attention', async () => {
    let broken = true;
    const writer = {
      write: async () => {
        if (broken) throw new TypeError('defect');
        return { xml: '<a/>', signatureAt: 0 };
      },
    } as unknown as InvoiceWriter;
    const it = bench({}, { writer });
    const attention = () => attentionOf(it.current(), new Date())?.reason ?? null;
    for (let times = 1; times <= 3; times++) await expect(it.run()).rejects.toThrow('defect');
    expect([attention(), it.reports.length]).toEqual([null, 0]);
    for (let times = 4; times <= 20; times++) await expect(it.run()).rejects.toThrow('defect');
    expect(attention()).toBe('internal_error');
    expect(it.reports).toHaveLength(17);
    expect(it.reports[0]).toMatchObject({
      level: 'error',
      stage: 'normalize',
      message: expect.stringMatching(/attention/),
    });
    const rests = it.leases.filter((lease) => lease >= 15_000);
    expect(rests.slice(0, 4)).toEqual([15_000, 30_000, 60_000, 120_000]);
    expect(Math.max(...rests)).toBe(3_600_000);
    // After the defect is fixed, the invoice continues normally.
    broken = false;
    await it.run();
    expect([it.statuses(), attention()]).toEqual(['signing,transmitted,accepted', null]);
  });

  it('that kill the worker pause the invoice too, after five times', async () => {
    const it = bench({}, { writer: { write: () => new Promise(() => undefined) } as unknown as InvoiceWriter });
    for (let times = 1; times <= 8; times++) void it.run();
    await expect.poll(() => it.leases).toEqual([15_000, 30_000, 60_000]);
    expect(attentionOf(it.current(), new Date())?.reason).toBe('internal_error');
  });

  it('keeps the number of the series that a process took for the invoice before it died', async () => {
    const it = bench({}, { invoice: { number: '2026-000007' } });
    await it.run();
    expect(it.invoice.status).toBe('accepted');
    expect(it.invoice.number).toBe('2026-000007');
  });

  it('an invalid UBL document rejects the invoice, which keeps its number', async () => {
    const writer = {
      write: async () => {
        throw new InvalidDocument('BR-CO-10');
      },
    };
    const it = bench({}, { writer });
    await it.run();
    expect(it.statuses()).toBe('rejected');
    expect(it.invoice.number).not.toBeNull();
    expect(it.reports).toMatchObject([{ level: 'error', stage: 'normalize' }]);
  });

  it('rendering is retried without limit, at growing intervals, and does not change the status', async () => {
    const it = bench({}, { render: () => Promise.reject(new Error('no browser')) });
    await it.runTimes(7);
    expect(it.statuses()).toBe('signing,transmitted,accepted');
    // The first 0 is the hand-over to rendering.
    expect(it.pauses).toEqual([0, 2000, 10_000, 60_000, 600_000, 600_000, 600_000]);
  });
});

describe('a missing decision', () => {
  it('is looked up at growing intervals; operators are notified once a day, and the tenant sees it', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      const it = bench({ submit: async () => held(null), lookUp: async () => held(null) });
      await it.run();
      const HOUR = 3_600_000;
      const start = Date.now();
      while (Date.now() - start < 50 * HOUR) {
        vi.setSystemTime(Date.now() + Math.max(it.pauses.at(-1) ?? 0, 1));
        await it.run();
        const late = Date.now() - start >= 24 * HOUR;
        expect(attentionOf(it.current(), new Date())?.reason ?? null).toBe(late ? 'undecided' : null);
      }
      expect(it.reports.map(({ message }) => message)).toEqual([
        expect.stringContaining('for 1 day;'),
        expect.stringContaining('for 2 days;'),
      ]);
      expect(it.pauses.slice(0, 3)).toEqual([2000, 2000, 2000]);
      expect(Math.max(...it.pauses)).toBe(600_000);
      expect(it.current().status).toBe('transmitted');
    } finally {
      vi.useRealTimers();
    }
  });

  it("is looked up at the time of the authority's hint", async () => {
    const it = bench({
      submit: async () => held(null, 777),
      lookUp: async () => held(null, 888),
    });
    await it.runTimes(3);
    expect(it.pauses).toEqual([777, 888, 888]);
  });
});

describe('a live invoice without a certificate to sign it with', () => {
  it('waits for the operator, whatever the number of runs, and goes on with its number', async () => {
    let isSet = false;
    const signer: DocumentSigner = { sign: async () => Buffer.from('<a/>') };
    const it = bench(
      {},
      {
        invoice: { environment: 'live' },
        signerOf() {
          if (!isSet) throw new SigningFailed('Set SIGNING_P12.', { fault: 'no_live_certificate' });
          return signer;
        },
      },
    );
    await it.runTimes(20);
    expect(it.invoice).toMatchObject({
      status: 'signing',
      rejectionReason: null,
      work: { stage: 'sign', attempts: 0 },
    });
    expect(new Set(it.pauses)).toEqual(new Set([60_000]));
    expect(it.reports).toMatchObject([{ level: 'error', message: expect.stringMatching(/wait for a signing cert/) }]);
    const changesOfNumber = it.statuses();
    isSet = true;
    await it.runTimes(3);
    expect([changesOfNumber, it.statuses()]).toEqual(['signing', 'signing,transmitted,accepted']);
  });
});

describe('the mail to the customer', () => {
  function mailing(send: (mail: InvoiceMail) => Promise<void>) {
    const sent: InvoiceMail[] = [];
    const mailer: Mailer = {
      messageIdOf: (id) => `<${id}@example.test>`,
      send: (mail) => {
        sent.push(mail);
        return send(mail);
      },
    };
    return { ...bench({}, { mailer, email: 'client@example.com' }), sent };
  }
  const refused = (permanent: boolean) => () => Promise.reject(new MailNotSent('550 no', permanent));

  it('follows the PDF, once, and is recorded', async () => {
    const it = mailing(async () => {});
    const { run } = it;
    await run();
    await run();
    expect(it.sent).toEqual([]);
    await run();
    await run();
    expect(it.sent).toMatchObject([{ to: 'client@example.com', dgiId: 'DGI-1' }]);
    const { email, work, status } = it.current();
    expect({ email, work, status }).toMatchObject({
      email: { status: 'sent', attempts: 1, lastError: null, sentAt: expect.any(Date) },
      work: null,
      status: 'accepted',
    });
  });

  it('has no job without an address', async () => {
    const it = bench({});
    await it.runTimes(2);
    expect(it.invoice).toMatchObject({ work: null, email: null, pdf: expect.anything() });
  });

  it('is retried by its schedule with the same bytes each time, and then has failed', async () => {
    const it = mailing(refused(false));
    await it.runTimes(2 + EMAIL_SCHEDULE.length);
    expect(it.current()).toMatchObject({ email: { status: 'waiting', lastError: '550 no' }, status: 'accepted' });
    expect(it.pauses.slice(2)).toEqual(EMAIL_SCHEDULE);
    await it.runTimes(2);
    const attempts = EMAIL_SCHEDULE.length + 1;
    expect(it.current()).toMatchObject({ email: { status: 'failed', attempts }, work: null });
    expect(it.sent).toHaveLength(attempts);
    expect(new Set(it.sent.map(({ messageId, date }) => `${messageId} ${date.getTime()}`)).size).toBe(1);
    expect(it.reports.map(({ level }) => level)).toEqual([...EMAIL_SCHEDULE.map(() => 'warn'), 'error']);
  });

  it('is not retried after a permanent refusal', async () => {
    const it = mailing(refused(true));
    await it.runTimes(5);
    expect(it.sent).toHaveLength(1);
    expect(it.current()).toMatchObject({ email: { status: 'refused', lastError: '550 no' }, work: null });
  });

  it('is sent again with the same Message-ID after its worker died, and that is reported', async () => {
    const gone = Promise.withResolvers<void>();
    const it = mailing(() => (it.sent.length === 1 ? gone.promise : Promise.resolve()));
    await it.runTimes(2);
    const stalled = it.run();
    await expect.poll(() => it.sent.length).toBe(1);
    expect(it.current().email).toMatchObject({ status: 'sending', attempts: 1 });
    await it.run();
    expect(it.sent[1]).toEqual(it.sent[0]);
    expect(it.current().email).toMatchObject({ status: 'sent', attempts: 2 });
    expect(it.reports).toMatchObject([{ level: 'warn', stage: 'email' }]);
    // The first worker was still alive: its record comes too late and changes nothing.
    gone.resolve();
    await stalled;
    expect(it.current().email).toMatchObject({ status: 'sent', attempts: 2 });
  });
});
