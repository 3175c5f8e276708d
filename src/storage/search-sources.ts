/** A row of a list in the order of its key. */
interface Ordered {
  readonly id: string;
  readonly order: string;
}

/**
 * Reads rows from several sources as if they were one, each row once, and counts what it reads.
 * @param sources each in the order of the list
 */
export async function* mergedRows<Row extends Ordered>(
  sources: readonly (Iterable<Row> | AsyncIterable<Row>)[],
  newestFirst: boolean,
  onRead: () => void,
): AsyncGenerator<Row> {
  const iterators = sources.map((source) => rowsOf(source));
  const nextOf = async (iterator: AsyncGenerator<Row, void>): Promise<Row | null> => {
    const { value } = await iterator.next();
    if (!value) return null;
    onRead();
    return value;
  };
  try {
    const heads: (Row | null)[] = await Promise.all(iterators.map((iterator) => nextOf(iterator)));
    let last: string | null = null;
    for (;;) {
      const nth = firstOf(heads, newestFirst);
      const head = heads[nth];
      const iterator = iterators[nth];
      if (!head || !iterator) return;
      // The same row in two sources is at the same place in both.
      if (head.id !== last) yield head;
      last = head.id;
      heads[nth] = await nextOf(iterator);
    }
  } finally {
    await Promise.all(iterators.map((iterator) => iterator.return()));
  }
}

async function* rowsOf<Row>(source: Iterable<Row> | AsyncIterable<Row>): AsyncGenerator<Row, void> {
  yield* source;
}

/** Returns which of the heads is first in the order of the list; -1 if all are null. */
export function firstOf(heads: readonly ({ readonly order: string } | null)[], newestFirst: boolean): number {
  let first = -1;
  for (const [nth, head] of heads.entries()) {
    const best = heads[first];
    if (head && (!best || head.order > best.order === newestFirst)) first = nth;
  }
  return first;
}
