import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { createClosing } from '../../../src/app/runtime.ts';
import type { HttpServer } from '../../../src/transport/http-server.ts';

const OPTIONS = { delayMs: 0, graceMs: 0, patient: false };

it('stops all work at the same time, within one limit, after the server and before the parts', async () => {
  const closing = createClosing(pino({ level: 'silent' }));
  const steps: string[] = [];
  const limits: number[] = [];
  const work = (name: string) => async (timeoutMs: number) => {
    steps.push(`${name} stops`);
    limits.push(timeoutMs);
    await sleep(50);
    steps.push(`${name} has stopped`);
  };
  closing.add(() => steps.push('store'));
  closing.addWork(work('jobs'));
  closing.add(() => steps.push('mailer'));
  closing.addWork(work('dispatcher'));
  closing.addServer({ close: async () => void steps.push('server') } as unknown as HttpServer);
  await closing.close(OPTIONS);
  expect(steps).toEqual([
    'server',
    'jobs stops',
    'dispatcher stops',
    'jobs has stopped',
    'dispatcher has stopped',
    'mailer',
    'store',
  ]);
  expect(limits).toEqual([5000, 5000]);
});

it('closes the parts also if work fails or throws', async () => {
  const closing = createClosing(pino({ level: 'silent' }));
  const closed: string[] = [];
  closing.add(() => closed.push('store'));
  closing.addWork(() => {
    throw new Error('it cannot stop');
  });
  closing.addWork(() => Promise.reject(new Error('it cannot stop')));
  await closing.close(OPTIONS);
  expect(closed).toEqual(['store']);
});
