import { expect, it } from 'vitest';
import { Watch } from '../../../src/domain/kit/watch.ts';

class Words extends Watch<{ readonly word: string }> {
  readonly words: string[] = [];
  unread: string[] = [];
  ends = 0;

  protected take() {
    const word = this.words.shift();
    return word === undefined ? null : { word };
  }

  protected override read(): Promise<void> | null {
    if (this.unread.length === 0) return null;
    this.words.push(...this.unread.splice(0));
    return Promise.resolve();
  }

  protected onEnd(): void {
    this.ends++;
  }

  bring(word: string): void {
    this.words.push(word);
    this.ring();
  }
}

it('sends what is in memory, then what is read, then what a ring brings', async () => {
  const words = new Words();
  words.bring('first');
  words.unread = ['second', 'third'];
  for (const word of ['first', 'second', 'third']) expect(await words.next()).toEqual({ done: false, value: { word } });
  const waiting = words.next();
  words.bring('fourth');
  expect(await waiting).toEqual({ done: false, value: { word: 'fourth' } });
});

it('ends while it waits, and sends nothing afterwards', async () => {
  const words = new Words();
  const waiting = words.next();
  await words.return();
  expect(await waiting).toEqual({ done: true, value: undefined });
  words.bring('late');
  expect((await words.next()).done).toBe(true);
  expect(words.ends).toBeGreaterThan(0);
});

it('passes an error on to whoever reports it, after its end', async () => {
  const words = new Words();
  await expect(words.throw(new Error('reader'))).rejects.toThrow('reader');
  expect((await words.next()).done).toBe(true);
});
