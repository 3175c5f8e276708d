/** A page of a list, as the service answers it. */
export interface ListPage<Item> {
  readonly data: readonly Item[];
  /** Whether there are more objects in the direction of the request. */
  readonly has_more: boolean;
}

/** The start of a page: after an object of the list, or before one. */
export interface Span {
  readonly starting_after?: string | undefined;
  readonly ending_before?: string | undefined;
}

/**
 * A list that is read page by page while it is iterated: from the newest to the oldest, or with `ending_before` in the
 * direction of the newest. Each iteration reads it again.
 */
export class List<Item extends { readonly id: string }> implements AsyncIterable<Item> {
  readonly #read: (span: Span) => Promise<ListPage<Item>>;
  readonly #span: Span;

  /** @param read reads a page */
  constructor(span: Span, read: (span: Span) => Promise<ListPage<Item>>) {
    this.#span = span;
    this.#read = read;
  }

  /** Reads the first page only. */
  page(): Promise<ListPage<Item>> {
    return this.#read(this.#span);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void> {
    let span = this.#span;
    const isBack = span.ending_before !== undefined;
    for (;;) {
      const { data, has_more: hasMore } = await this.#read(span);
      // A page begins with its newest object in both directions. In the direction of the newest, the oldest comes
      // first.
      yield* isBack ? [...data].reverse() : data;
      const last = isBack ? data[0] : data.at(-1);
      if (!hasMore || !last) return;
      span = isBack ? { ending_before: last.id } : { starting_after: last.id };
    }
  }

  /** Reads up to `most` objects. */
  async take(most: number): Promise<Item[]> {
    const taken: Item[] = [];
    for await (const item of this) {
      if (taken.length >= most) break;
      taken.push(item);
    }
    return taken;
  }
}
