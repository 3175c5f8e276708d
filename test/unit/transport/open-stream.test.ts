import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { messageOf, OpenStream, type Source } from '../../../src/transport/open-stream.ts';

/** An answer whose client reads at once. */
class Answer extends EventEmitter {
  chunkedEncoding = false;
  destroyed = false;
  writableEnded = false;
  writableNeedDrain = false;
  text = '';

  write(bytes: Buffer): boolean {
    this.text += bytes.toString();
    return true;
  }

  end(last: string): void {
    this.text += last;
    this.writableEnded = true;
    this.emit('close');
  }
}

/** Sends from the source, and waits until the stream has ended. @returns what was sent and what was reported */
async function send(source: Partial<Source<string>>): Promise<{ readonly text: string; readonly reported: unknown[] }> {
  const answer = new Answer();
  const reported: unknown[] = [];
  const stream = new OpenStream(answer as unknown as ServerResponse);
  const ended = new Promise<void>((resolve) => answer.once('close', resolve));
  stream.send({ values: valuesOf(['a', 'b']), print: messageOf, ...source }, (error) => reported.push(error));
  await ended;
  return { text: answer.text, reported };
}

async function* valuesOf(values: readonly string[]): AsyncGenerator<string> {
  yield* values;
}

/** A source with one value. The next call of `next` does what the test says. */
function failing(next: () => unknown): Source<string>['values'] {
  let calls = 0;
  return { next: () => (++calls === 1 ? Promise.resolve({ done: false, value: 'a' }) : next()) as Promise<never> };
}

const failure = new Error('the source failed');

it('sends each value and the last messages, and ends', async () => {
  expect(await send({ last: 'last' })).toEqual({ text: ':\n\nablast', reported: [] });
});

it.each([
  ['rejects', () => Promise.reject(failure)],
  [
    'throws',
    () => {
      throw failure;
    },
  ],
])('reports the error of a source whose `next` %s, and ends', async (_how, next) => {
  expect(await send({ values: failing(next) })).toEqual({ text: ':\n\na', reported: [failure] });
});

it('reports a value that cannot be printed or is none, and ends', async () => {
  const print = () => {
    throw failure;
  };
  expect(await send({ print })).toEqual({ text: ':\n\n', reported: [failure] });
  const values = failing(() => Promise.resolve(undefined));
  expect(await send({ values })).toEqual({ text: ':\n\na', reported: [expect.any(TypeError)] });
});
