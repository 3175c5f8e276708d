import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deviationOf, newProgress, type Progress, recordStatus } from '../../../src/cli/demo/progress.ts';
import { logLine, remarks, table } from '../../../src/cli/demo/render.ts';
import type { Sample } from '../../../src/cli/demo/samples.ts';
import { givenTarget } from '../../../src/cli/demo/target.ts';
import { messagesOf, type StreamMessage } from '../../../src/cli/event-stream.ts';
import type { Style } from '../../../src/cli/terminal.ts';

const plain: Style = (_format, text) => text;
const ACCEPTED = ['signing', 'transmitted', 'accepted'];

function sample(title: string, statuses: string[] = ACCEPTED, reason?: string): Sample {
  return { title, expected: { statuses, reason }, request: { amount: 123456 } };
}

/** Progress of an invoice sent at 1,000 ms, with the statuses after the given milliseconds. */
function progress(of: Sample, steps: [status: string, after: number][], facts: Partial<Progress> = {}): Progress {
  const made = Object.assign(newProgress(of), { sentAt: 1000 });
  for (const [status, after] of steps) recordStatus(made, { status }, 1000 + after);
  return Object.assign(made, facts);
}

const WHOLE: [string, number][] = [['pending', 8], ['signing', 10], ['transmitted', 30], ['accepted', 41.4]]; // biome-ignore format: a table

describe('the live table', () => {
  const all = [
    progress(sample('Conseil'), WHOLE, { ended: true }),
    progress(sample('Audit', ['signing', 'transmitted', 'rejected']), [['pending', 5], ['signing', 9], ['transmitted', 20], ['rejected', 1234]], { ended: true }), // biome-ignore format: a table
    progress(sample('Livres'), [['pending', 5], ['signing', 9], ['rejected', 20]], { ended: true }), // biome-ignore format: a table
    progress(sample('Attente'), [['pending', 5], ['signing', 9]]), // biome-ignore format: a table
    newProgress(sample('Plus tard')),
  ];

  it('has one row per invoice with the time of each status and a running clock for the next one', () => {
    expect(table(all, 1250, 100, plain).split('\n')).toEqual([
      '  invoice          MAD   signing  transmitted           decided',
      '✔ Conseil      1234.56     10 ms        30 ms    accepted 41 ms',
      '✔ Audit        1234.56      9 ms        20 ms    rejected 1.2 s',
      '✘ Livres       1234.56      9 ms                 rejected 20 ms',
      '⠸ Attente      1234.56      9 ms     … 250 ms                  ',
      '  Plus tard    1234.56                                         ',
    ]);
  });

  it('clips titles to fit the terminal', () => {
    const long = [progress(sample('Prestation de conseil en organisation'), WHOLE, { ended: true })];
    const [, row] = table(long, 2000, 80, plain).split('\n');
    expect(row).toMatch(/^✔ Prestation de conseil en… {4}1234\.56 /);
    for (const line of table(long, 2000, 80, plain).split('\n')) expect(line.length).toBeLessThan(80);
  });
});

describe('the end of an invoice', () => {
  it.each([
    ['as expected', progress(sample('A'), WHOLE), null],
    ['the stream was opened late', progress(sample('A'), [['pending', 1], ['transmitted', 2], ['accepted', 2]]), null], // biome-ignore format: a table
    ['the stream was opened after the last status', progress(sample('A'), [['pending', 1], ['accepted', 2]]), null], // biome-ignore format: a table
    [
      'a status is missing',
      progress(sample('A'), [['pending', 1], ['signing', 2], ['accepted', 2]]), // biome-ignore format: a table
      'expected pending → signing → transmitted → accepted, but was pending → signing → accepted',
    ],
    [
      'the last status is missing',
      progress(sample('A'), [['pending', 1], ['signing', 2], ['transmitted', 2]]), // biome-ignore format: a table
      'expected pending → signing → transmitted → accepted, but was pending → signing → transmitted',
    ],
    ['the stream reported nothing', progress(sample('A'), [['pending', 1]]), 'expected pending → signing → transmitted → accepted, but was pending'], // biome-ignore format: a table
    [
      'a status came twice',
      progress(sample('A'), [['pending', 1], ['signing', 2], ['signing', 2], ['transmitted', 2], ['accepted', 2]]), // biome-ignore format: a table
      'expected pending → signing → transmitted → accepted, but was pending → signing → signing → transmitted → accepted',
    ],
    [
      'another reason',
      progress(sample('A', ['rejected'], 'unknown'), [['pending', 1], ['rejected', 2]], { rejectionReason: 'no' }), // biome-ignore format: a table
      "expected a reason with 'unknown', but it was 'no'",
    ],
    ['following failed', progress(sample('A'), WHOLE, { failure: 'gone' }), 'gone'],
  ])('%s', (_name, ended, surprise) => {
    expect(deviationOf(ended)).toBe(surprise);
  });

  it('is remarked on when it is a rejection or a deviation', () => {
    const rejected = progress(sample('Rejet', ['rejected']), [['pending', 1], ['rejected', 2]], { rejectionReason: 'ICE\u001b unknown.' }); // biome-ignore format: a table
    const failed = progress(sample('Panne'), [], { failure: 'the service went away' });
    expect(remarks([progress(sample('A'), WHOLE), rejected, failed], Number.POSITIVE_INFINITY, plain)).toEqual([
      '! Rejet: rejected as expected: ICE? unknown.',
      '✘ Panne: the service went away',
    ]);
  });
});

it('a log line contains time, invoice, status and detail', () => {
  const ended = progress(sample('Conseil'), WHOLE, { id: 'inv_1', dgiId: 'DGI-TEST-1' });
  expect(logLine(ended, 'pending', 12)).toBe('[  0.012 s] Conseil: pending (inv_1)');
  expect(logLine(ended, 'signing', 1012.4)).toBe('[  1.012 s] Conseil: signing');
  expect(logLine(ended, 'accepted', 41)).toBe('[  0.041 s] Conseil: accepted (DGI-TEST-1)');
});

describe('messagesOf', () => {
  async function read(chunks: string[]): Promise<StreamMessage[]> {
    async function* source() {
      yield* chunks;
    }
    return Array.fromAsync(messagesOf(source()));
  }
  const STREAM =
    ':\n\nid: evt_1\ndata: {"a":1}\n\n:\n\ndata: x\u2028\ndata:y\r\n\r\nid: evt_2\nevent: n\ndata\n\ndata: cut off';
  const MESSAGES = [
    { id: 'evt_1', data: '{"a":1}' },
    { id: 'evt_1', data: 'x\u2028\ny' },
    { id: 'evt_2', data: '' },
  ];

  it('parses messages, and drops comments and an unterminated message', async () => {
    expect(await read([STREAM])).toEqual(MESSAGES);
  });

  it('parses the same messages for any chunks', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: STREAM.length })), async (cuts) => {
        const edges = [0, ...cuts.sort((a, b) => a - b), STREAM.length];
        const chunks = edges.slice(1).map((end, index) => STREAM.slice(edges[index], end));
        expect(await read(chunks)).toEqual(MESSAGES);
      }),
    );
  });
});

describe('a given address', () => {
  it.each(['sk_live_abc', 'pk_test_abc', 'abc'])('requires a secret test key, not %s', (key) => {
    expect(() => givenTarget('http://localhost:3000', key)).toThrow('sk_test_');
  });
  it.each(['localhost:3000', 'ftp://localhost', ''])('must be an http address, not %j', (url) => {
    expect(() => givenTarget(url, 'sk_test_abc')).toThrow('--url');
  });
  it('has its trailing slash removed', () => {
    expect(givenTarget('http://localhost:3000/', 'sk_test_abc').access.url).toBe('http://localhost:3000');
  });
});
