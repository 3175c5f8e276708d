import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { createLogoReader, type LogoReader } from '../../../src/adapters/logo/logo-reader.ts';
import { ServiceError } from '../../../src/domain/errors.ts';
import { MAX_LOGO_PIXELS, parseLogo } from '../../../src/domain/tenant/logo.ts';
import { NotALogo } from '../../../src/domain/tenant/not-a-logo.ts';
import { createReadLogo } from '../../../src/domain/tenant/read-logo.ts';
import { jpegOf } from '../../support/jpeg.ts';
import { firstOf } from '../../support/samples.ts';
import { LOGO } from '../pdf/support.ts';

let reader: LogoReader;
const open = (script?: URL) => {
  reader = createLogoReader(undefined, script);
  return reader;
};
afterEach(() => reader.close());

const url = (content: Buffer) => `data:image/jpeg;base64,${content.toString('base64')}`;
it('a thread reads a logo as it is read without one, and says why another one is refused', async () => {
  const { read } = open();
  const { content, ...logo } = await read(LOGO);
  const { content: expected, ...facts } = parseLogo(LOGO);
  expect(logo).toEqual(facts);
  expect(Buffer.from(content).equals(expected)).toBe(true);
  // No more than the file is sent between the threads.
  expect(content.buffer.byteLength).toBe(content.length);
  await expect(read('x')).rejects.toThrow(
    new NotALogo("must be a data URL of a PNG or JPEG: 'data:image/png;base64,…'"),
  );
});

it('the heap of the thread has room for the largest logos', async () => {
  const { read } = open();
  const side = { width: MAX_LOGO_PIXELS, height: MAX_LOGO_PIXELS };
  const grey = [[1, 1]] as const;
  const colours = [[2, 2], ...grey, ...grey] as const;
  // A progressive one in colours keeps all of its coefficients: it needs most.
  const frames = firstOf([
    { frame: 0xc2, sampling: colours },
    { frame: 0xc2, sampling: grey },
    { frame: 0xc0, sampling: colours },
    { frame: 0xc0, sampling: grey },
  ]);
  for (const kind of frames) expect(await read(url(jpegOf({ ...side, ...kind })))).toMatchObject(side);
});

it('what a thread cannot answer is an error of the service, and the next logo gets another thread', async () => {
  const errors: unknown[] = [];
  const folder = await mkdtemp(join(tmpdir(), 'logo-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const script = pathToFileURL(join(folder, 'logo-thread.mjs'));
  await writeFile(
    script,
    "export default (url) => { if (url === 'die') throw new Error('it died'); return { width: 1 }; }",
  );
  const readLogo = createReadLogo(open(script).read, (error) => errors.push(error))('ten_1');
  await expect(readLogo('die')).rejects.toMatchObject({ problems: [{ code: 'internal_error', status: 503 }] });
  expect(errors).toMatchObject([{ message: 'it died' }]);
  expect(await readLogo('x')).toEqual({ width: 1 });
});

it('tenants take turns, and one of them has three logos at once', async () => {
  const { promise: held, resolve } = Promise.withResolvers<void>();
  const order: string[] = [];
  open();
  const readLogo = createReadLogo(
    async (text) => {
      await held;
      order.push(text);
      return parseLogo(LOGO);
    },
    () => undefined,
  );
  const many = Promise.allSettled(Array.from({ length: 5 }, (_, at) => readLogo('ten_1')(`first ${at}`)));
  const other = readLogo('ten_2')('second');
  resolve();
  await other;
  const refused = (await many)
    .filter(({ status }) => status === 'rejected')
    .map((each) => 'reason' in each && each.reason);
  expect(refused).toHaveLength(2);
  for (const reason of refused) {
    expect(reason).toBeInstanceOf(ServiceError);
    expect(reason).toMatchObject({ problems: [{ code: 'rate_limit_exceeded' }] });
  }
  expect(order.indexOf('second')).toBeLessThan(order.indexOf('first 2'));
});
