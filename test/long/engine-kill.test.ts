import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { randomNumbers } from '../../scripts/random-numbers.ts';
import { ChaosReader, ChaosWriter, chaosProblems, prepareChaos } from '../support/engine-chaos.ts';
import { ENGINE_MAIN, startEngineProcess } from '../support/engine-process.ts';
import { WireClient } from '../support/wire-client.ts';

const ROUNDS = Number(process.env.ENGINE_KILLS ?? 400);
const WRITERS = 8;

test(`the engine is killed ${ROUNDS} times under ${WRITERS} writers: no acknowledged write is lost, none is executed twice, no event is missing`, async () => {
  const seed = Number(process.env.TEST_SEED ?? Date.now() % 2 ** 31);
  const next = randomNumbers(seed);
  const random = (below: number) => Math.floor(next() * below);
  const folder = await mkdtemp(join(tmpdir(), 'engine-'));
  const writers = Array.from({ length: WRITERS }, (_, n) => new ChaosWriter(n + 1, random));
  const reader = new ChaosReader();
  let killedStarts = 0;
  try {
    let engine = await startEngineProcess(folder);
    await prepareChaos(engine.uri);
    await reader.read(engine.uri, { drain: true });
    for (let round = 0; round < ROUNDS; round++) {
      const { uri } = engine;
      const reading = reader.read(uri, { drain: false });
      const working = Promise.all(writers.map((writer) => writer.work(uri)));
      await sleep(5 + random(120));
      await engine.kill();
      await Promise.all([working, reading]);
      if (random(8) === 0) {
        await killedStart(folder, random(400));
        killedStarts++;
      }
      engine = await startEngineProcess(folder);
      const wire = await WireClient.connect(engine.uri);
      for (const writer of writers) await writer.settle(wire);
      await reader.read(engine.uri, { drain: true });
      expect(await chaosProblems(wire, writers, reader), `seed ${seed}, round ${round}`).toEqual([]);
      wire.close();
    }
    await engine.kill();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  const acknowledged = writers.reduce((sum, writer) => sum + writer.acknowledged, 0);
  const resent = writers.reduce((sum, writer) => sum + writer.resent, 0);
  console.log(
    `seed ${seed}: ${ROUNDS} kills and ${killedStarts} of a start, ${acknowledged} acknowledged writes, ${resent} sent again, ${reader.resumed} resumed streams`,
  );
  expect(acknowledged).toBeGreaterThan(ROUNDS * WRITERS);
  expect(resent).toBeGreaterThan(ROUNDS / 10);
});

/** Starts an engine on the folder and kills it after `ms` milliseconds, while it recovers from the previous kill. */
async function killedStart(folder: string, ms: number): Promise<void> {
  const child = spawn(process.execPath, [ENGINE_MAIN, '--data-dir', folder], { stdio: 'ignore' });
  await sleep(ms);
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}
