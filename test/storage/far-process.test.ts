import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { newCreationMoment } from '../../src/domain/order-key.ts';
import type { Store } from '../../src/storage/connect.ts';
import { createInvoiceRepository } from '../../src/storage/invoices.ts';
import { pendingInvoice } from '../support/invoices.ts';
import { openBeside, openTestStore } from '../support/store.ts';

let store: Store;
let other: Store;
beforeAll(async () => {
  store = await openTestStore('far_process');
  other = await openBeside(store);
});
afterAll(async () => {
  await other.close();
  await store.close();
});

const BUILDS = ['collection', 'find', 'project', 'sort', 'limit'];
const RUNS = ['bulkWrite', 'insertMany', 'updateOne', 'toArray', 'findOne', 'next'];

/** A database whose commands and answers each take this much longer, milliseconds. */
function farther<Part extends object>(part: Part, ms: number): Part {
  return new Proxy(part, {
    get(target, name) {
      const member = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      if (BUILDS.includes(String(name))) return (...args: unknown[]) => farther(member.apply(target, args), ms);
      if (!RUNS.includes(String(name))) return member.bind(target);
      return async (...args: unknown[]) => {
        await sleep(ms);
        return member.apply(target, args).finally(() => sleep(ms));
      };
    },
  });
}

it('a process that is farther from the store has its turns at a list, however busy a nearer one is', async () => {
  const tenantId = newId('ten');
  const create = (db: Db) => {
    const invoices = createInvoiceRepository(db);
    return () => invoices.insert(pendingInvoice({ tenantId }), newCreationMoment().order, null);
  };
  const [near, far] = [create(store.db), create(farther(other.db, 1))];
  let over = false;
  const busy = Array.from({ length: 4 }, async () => {
    while (!over) await near();
  });
  await sleep(300);
  // Without being let go first, each of them fails after 15 s.
  for (let nth = 0; nth < 10; nth++) expect(await far()).not.toBeNull();
  over = true;
  await Promise.all(busy);
});
