import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { deliveryHeaders, signingKey } from '../../src/domain/webhook/signature.ts';
import { examplesOf, root } from './client-examples.ts';

/** Options for running the example of a README that verifies a webhook. */
export interface VerifyExample {
  /** `typescript`: the folder of the client. */
  readonly folder: string;
  /** The language that the README's fence names: `ts`. */
  readonly fence: string;
  /**
   * Returns the command that runs a program of the example, which prints the type of the event. Its environment has the
   * body and the signature of the delivery as `BODY` and `SIGNATURE`, as a framework would pass them, and
   * `WEBHOOK_SECRET`.
   */
  readonly start: (example: string) => readonly [command: string, ...args: string[]];
  readonly environment?: Readonly<Record<string, string>>;
  /** The name of the error with which the program refuses a delivery. Default: `SignatureError`. */
  readonly error?: string;
}

/** Declares the test that the example accepts a delivery of the service, and refuses a changed one. */
export function verifyExample(readme: VerifyExample): void {
  const { folder, fence, start, environment, error = 'SignatureError' } = readme;
  it(`the example of webhooks in clients/${folder}/README.md runs as it stands`, () => {
    const example = examplesOf(folder, fence).find((text) => /verify/i.test(text)) ?? '';
    const secret = `whsec_${Buffer.from('of a test').toString('base64')}`;
    const body = JSON.stringify({ id: 'evt_1', type: 'invoice.accepted', data: { id: 'inv_1' } });
    const content = { eventId: 'evt_1', body, at: new Date(), environment: 'test', manual: false } as const;
    const { 'Service-Signature': signature = '' } = deliveryHeaders(content, [signingKey(secret)]);
    const [command, ...args] = start(example);
    const run = (received: string) =>
      spawnSync(command, args, {
        cwd: root,
        encoding: 'utf8',
        env: { ...process.env, ...environment, BODY: received, SIGNATURE: signature, WEBHOOK_SECRET: secret },
      });
    const right = run(body);
    // An example may print something before.
    expect([right.status, right.stdout.trim().split('\n').at(-1)], right.stderr).toEqual([0, 'invoice.accepted']);
    const wrong = run(body.replace('inv_1', 'inv_2'));
    expect(wrong.status).not.toBe(0);
    expect(wrong.stderr + wrong.stdout).toContain(error);
  });
}
