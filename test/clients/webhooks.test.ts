import { expect, it } from 'vitest';
import { webhooks } from '../../clients/typescript/src/index.ts';

// What the conformance suite cannot say: what JavaScript passes in spite of the types.

const { verify } = webhooks;
const headers = { 'service-signature': `t=1,v1=${'0'.repeat(64)}` };

it('refuses a tolerance that is no number, to which no time would be too old', async () => {
  for (const wrong of [Number.NaN, -1, null, '300'])
    await expect(verify('{}', headers, 'whsec_a', { toleranceSeconds: wrong as number })).rejects.toMatchObject({
      name: 'SignatureError',
      message: expect.stringContaining('toleranceSeconds'),
    });
  const anyTime = verify('{}', headers, 'whsec_a', { toleranceSeconds: Number.POSITIVE_INFINITY });
  await expect(anyTime).rejects.toThrow('not fit');
  const never = verify('{}', headers, 'whsec_a', { now: Number.NaN, toleranceSeconds: Number.POSITIVE_INFINITY });
  await expect(never).rejects.toThrow('another time');
});

it('names headers and secrets that are not there', async () => {
  for (const missing of [undefined, null])
    await expect(verify('{}', missing as unknown as Headers, 'whsec_a')).rejects.toThrow('header');
  for (const missing of [undefined, null, '', [], [undefined, ''], 5])
    await expect(verify('{}', headers, missing as string)).rejects.toThrow('whsec_');
});
