import { describe, expect, it } from 'vitest';
import {
  AnswersDiffer,
  type Benchmark,
  type Measured,
  runBenchmark,
  type Side,
} from '../../../scripts/bench/harness.ts';

/** A side that returns the given measurements without doing any work; `log` receives each call. */
function synthetic(name: string, measured: (call: number) => Measured, log: string[] = []): Side {
  let calls = 0;
  return {
    name,
    open: () => void log.push(`open ${name}`),
    run: () => {
      log.push(name);
      return measured(calls++);
    },
    close: () => void log.push(`close ${name}`),
  };
}

const benchmark = (sides: Benchmark['sides'], rest: Partial<Benchmark> = {}): Benchmark => ({
  name: 'synthetic',
  about: 'nothing',
  sides,
  answers: 'incomparable',
  repeats: 4,
  warmups: 1,
  ...rest,
});
const throughput = (perSecond: number): Measured => ({ operations: perSecond, seconds: 1 });
const calm = { machine: { collectGarbage: () => {}, calibrate: () => 10 } };

describe('runBenchmark', () => {
  it('alternates the sides and rotates their order each round; all stay open for the whole run', async () => {
    const log: string[] = [];
    const sides = ['a', 'b'].map((name) => synthetic(name, () => throughput(1), log)) as [Side, Side];
    await runBenchmark(benchmark(sides), calm);
    expect(log.join(' ')).toBe('open a open b a b b a a b b a a b close a close b');
  });

  it('summarizes repeats and the ratio of each repeat, without the warm-ups', async () => {
    const ours = synthetic('ours', (call) => throughput([1, 200, 400, 300, 100][call] as number));
    const peer = synthetic('peer', (call) => throughput([999, 100, 100, 100, 100][call] as number));
    const { figures } = await runBenchmark(benchmark([ours, peer]), calm);
    expect(figures).toEqual([
      {
        name: 'throughput',
        unit: 'ops/s',
        better: 'higher',
        sides: [
          { side: 'ours', values: [200, 400, 300, 100], min: 100, median: 250, max: 400, spread: 0.6 },
          { side: 'peer', values: [100, 100, 100, 100], min: 100, median: 100, max: 100, spread: 0 },
        ],
        ratios: [{ peer: 'peer', values: [2, 4, 3, 1], min: 1, median: 2.5, max: 4, spread: 0.6 }],
      },
    ]);
  });

  it('computes p50 and p99 of latencies; their ratio is above 1 if ours are shorter', async () => {
    const samples = Array.from({ length: 101 }, (_, i) => i);
    const ours = synthetic('ours', () => ({ latencies: { accepted: samples } }));
    const peer = synthetic('peer', () => ({ latencies: { accepted: samples.map((sample) => sample * 3) } }));
    const { figures } = await runBenchmark(benchmark([ours, peer]), calm);
    expect(
      figures.map(({ name, sides, ratios }) => [name, sides[0]?.median, sides[1]?.median, ratios[0]?.median]),
    ).toEqual([
      ['accepted p50', 50, 150, 3],
      ['accepted p99', 99, 297, 3],
    ]);
    expect(figures.every(({ unit, better }) => unit === 'ms' && better === 'lower')).toBe(true);
  });

  it('divides operations by the duration of the run if the side returns no seconds', async () => {
    let inside = 0;
    const side: Side = {
      name: 'ours',
      run: async () => {
        const start = performance.now();
        await new Promise((resolve) => setTimeout(resolve, 20));
        inside = performance.now() - start;
        return { operations: 10 };
      },
    };
    const start = performance.now();
    const { figures } = await runBenchmark(benchmark([side], { repeats: 1, warmups: 0 }), calm);
    const outside = performance.now() - start;
    const milliseconds = 10_000 / (figures[0]?.sides[0]?.median ?? 0);
    expect(milliseconds).toBeGreaterThanOrEqual(inside - 0.001);
    expect(milliseconds).toBeLessThanOrEqual(outside + 0.001);
  });

  it('runs fewer repeats with quick, and as many as repeats says', async () => {
    const seen: boolean[] = [];
    const side: Side = {
      name: 'ours',
      run: ({ quick }) => {
        seen.push(quick);
        return throughput(1);
      },
    };
    const outcome = await runBenchmark(benchmark([side]), { quick: true, ...calm });
    expect(outcome).toMatchObject({ repeats: 3, warmups: 1, quick: true });
    expect(seen).toEqual([true, true, true, true]);
    expect((await runBenchmark(benchmark([side]), { quick: true, repeats: 7, ...calm })).repeats).toBe(7);
  });

  it('checks that answers are equal byte for byte, as text or bytes', async () => {
    const run = (ours: Measured['answer'][], peers: Measured['answer'][]) => {
      const side = (name: string, answers: Measured['answer'][]) =>
        synthetic(name, (call) => {
          const answer = answers[Math.min(call, answers.length - 1)];
          return { ...throughput(1), ...(answer !== undefined && { answer }) };
        });
      return runBenchmark(benchmark([side('ours', ours), side('peer', peers)], { answers: 'equal' }), calm);
    };
    await expect(run(['{"a":1}'], [Buffer.from('{"a":1}')])).resolves.toMatchObject({ answers: 'equal' });
    await expect(run(['{"a":1}'], ['{"a":2}'])).rejects.toThrow(/from byte 5 on: .*\{\\"a\\":1\}.*\{\\"a\\":2\}/);
    await expect(run(['a', 'a', 'a', 'b'], ['a'])).rejects.toThrow(AnswersDiffer);
    await expect(run(['abc'], ['ab'])).rejects.toThrow(/from byte 2 on/);
    await expect(run(['a'], [undefined])).rejects.toThrow('peer gave no answer');
  });

  it('closes every open side when one fails', async () => {
    const log: string[] = [];
    const good = synthetic('good', () => throughput(1), log);
    const failing = synthetic(
      'failing',
      () => {
        throw new Error('broken');
      },
      log,
    );
    await expect(runBenchmark(benchmark([good, failing]), calm)).rejects.toThrow('broken');
    expect(log.slice(-2)).toEqual(['close good', 'close failing']);
    const unopenable: Side = { ...failing, open: () => Promise.reject(new Error('no port')) };
    await expect(runBenchmark(benchmark([good, unopenable]), calm)).rejects.toThrow('no port');
    expect(log.slice(-2)).toEqual(['close good', 'close failing']);
  });

  it('refuses sides that measure different quantities', async () => {
    const ours = synthetic('ours', () => throughput(1));
    const other = synthetic('other', () => ({ latencies: { a: [1] } }));
    await expect(runBenchmark(benchmark([ours, other]), calm)).rejects.toThrow('other did not measure throughput');
    await expect(runBenchmark(benchmark([ours, synthetic('idle', () => ({}))]), calm)).rejects.toThrow(
      'idle measured nothing',
    );
  });

  describe('reports noise', () => {
    const constant = (name = 'ours') => synthetic(name, () => throughput(100));
    const wild = (name: string) => synthetic(name, (call) => throughput([100, 50, 200, 80, 300][call % 5] as number));

    it('not if all values are steady', async () => {
      const { noise } = await runBenchmark(benchmark([constant(), constant()]), calm);
      expect(noise).toEqual({ noisy: false, reasons: [], calibrationMs: Array(8).fill(10) });
    });

    it('if the ratio to a steady peer varies', async () => {
      const { noise } = await runBenchmark(benchmark([wild('ours'), constant('peer')]), calm);
      expect(noise.reasons).toEqual([expect.stringMatching(/^ours to peer, throughput, varies by \d+ %$/)]);
    });

    it('if a peer varies', async () => {
      const { noise } = await runBenchmark(benchmark([constant(), wild('peer')]), calm);
      expect(noise.reasons).toEqual([
        expect.stringMatching(/^peer, throughput, varies by \d+ %$/),
        expect.stringMatching(/^ours to peer, throughput, varies by \d+ %$/),
      ]);
    });

    it('if ours varies and there is no peer', async () => {
      expect((await runBenchmark(benchmark([wild('ours')]), calm)).noise.noisy).toBe(true);
    });

    it('if the calibration varies', async () => {
      let calls = 0;
      const calibrate = () => (calls++ % 3 === 0 ? 20 : 10);
      const { noise } = await runBenchmark(benchmark([constant(), constant()]), {
        machine: { ...calm.machine, calibrate },
      });
      expect(noise.reasons).toEqual([expect.stringContaining('calibration')]);
    });

    it('not if only a p99 varies', async () => {
      const side = synthetic('ours', (call) => ({ latencies: { a: [...Array(60).fill(5), 10 * 3 ** call] } }));
      expect((await runBenchmark(benchmark([side]), calm)).noise.noisy).toBe(false);
    });
  });
});
