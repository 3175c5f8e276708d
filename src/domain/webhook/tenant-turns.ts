/**
 * Items that wait for places, whose tenants take turns: a tenant of which much waits delays the others no more than one
 * of which little waits.
 */
export interface TenantTurns<Item> {
  isEmpty(): boolean;
  /** Adds an item behind the others of its tenant. One that waits already keeps its place. */
  add(item: Item): void;
  delete(item: Item): void;
  /**
   * Removes and returns the item whose turn it is: of the tenant that holds the fewest places, the item that has waited
   * longest. Among several such tenants, the one that has waited longest since its last turn.
   */
  take(): Item | undefined;
}

/** @param heldBy number of places that a tenant holds */
export function createTenantTurns<Item extends { readonly tenantId: string }>(
  heldBy: (tenantId: string) => number,
): TenantTurns<Item> {
  /** Tenants and the items of each, both in the order of their turns. */
  const waiting = new Map<string, Set<Item>>();

  /** Ends at the first tenant that holds no place, so it examines at most one tenant more than there are places. */
  function nextTenant(): string | undefined {
    let next: string | undefined;
    let fewest = Number.POSITIVE_INFINITY;
    for (const tenantId of waiting.keys()) {
      const held = heldBy(tenantId);
      if (held < fewest) [next, fewest] = [tenantId, held];
      if (fewest === 0) break;
    }
    return next;
  }

  function remove(item: Item): void {
    const { tenantId } = item;
    const own = waiting.get(tenantId);
    if (own?.delete(item) && own.size === 0) waiting.delete(tenantId);
  }

  return {
    isEmpty: () => waiting.size === 0,
    add(item) {
      const own = waiting.get(item.tenantId) ?? new Set();
      waiting.set(item.tenantId, own.add(item));
    },
    delete: remove,
    take() {
      const tenantId = nextTenant();
      const own = tenantId === undefined ? undefined : waiting.get(tenantId);
      if (tenantId === undefined || !own) return undefined;
      const [item] = own;
      // Behind the other tenants.
      waiting.delete(tenantId);
      if (item && own.delete(item) && own.size > 0) waiting.set(tenantId, own);
      return item;
    },
  };
}
