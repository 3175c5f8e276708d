/** A holder of memory. */
export interface Holding {
  readonly bytes: number;
  /** Frees the memory, for example by resetting a connection. Called at most once. */
  drop(): void;
}

/** The bytes of a group or a member, and the members or holdings that it consists of. */
interface Held<Part> {
  bytes: number;
  readonly parts: Part;
}
/** The holdings of a member, oldest first. */
type OfMember = Held<Set<Holding>>;
type OfGroup = Held<Map<string, OfMember>>;

/** Counts the memory that holdings take together. */
export interface MemoryBudget {
  /** Number of bytes that are held now. */
  readonly bytes: number;
  /**
   * Adds a holding, and drops others while all together exceed the limit, possibly the new one. One without bytes is
   * not counted and never dropped.
   * @param group those who share, e.g. a tenant
   * @param member one of the group, e.g. a credential
   * @returns a function that removes the holding
   */
  add(group: string, holding: Holding, member?: string): () => void;
}

/**
 * Creates a budget. Use it where memory is taken before it is known how much others will need. Everything is admitted.
 * Beyond the limit, the member with the most bytes of the group with the most bytes loses a holding. So nobody loses
 * memory to a caller that holds more.
 * @param limit bytes
 * @param victim which holding of that member is dropped: `oldest` where age means that it will never end, `latest`
 *   where the oldest is next to end
 */
export function createMemoryBudget(limit: number, victim: 'oldest' | 'latest'): MemoryBudget {
  const groups = new Map<string, OfGroup>();
  let bytes = 0;
  let isDropping = false;

  function add(group: string, holding: Holding, member = ''): () => void {
    if (holding.bytes === 0) return () => undefined;
    const all: OfGroup = groups.get(group) ?? { bytes: 0, parts: new Map() };
    const own: OfMember = all.parts.get(member) ?? { bytes: 0, parts: new Set() };
    groups.set(group, all);
    all.parts.set(member, own);
    own.parts.add(holding);
    own.bytes += holding.bytes;
    all.bytes += holding.bytes;
    bytes += holding.bytes;
    dropExcess();
    return () => remove(group, member, holding);
  }

  function dropExcess(): void {
    // A dropped holding may add another one. The loop below continues with that, because nested calls would fill the
    // stack.
    if (isDropping) return;
    isDropping = true;
    try {
      while (bytes > limit) dropOne();
    } finally {
      isDropping = false;
    }
  }

  function dropOne(): void {
    const [group, { parts: members }] = largest(groups);
    const [member, { parts: holdings }] = largest(members);
    const [dropped] = (victim === 'oldest' ? holdings : [...holdings].slice(-1)) as Iterable<Holding> as [Holding];
    remove(group, member, dropped);
    dropped.drop();
  }

  function remove(group: string, member: string, holding: Holding): void {
    const all = groups.get(group);
    const own = all?.parts.get(member);
    if (!all || !own?.parts.delete(holding)) return;
    own.bytes -= holding.bytes;
    all.bytes -= holding.bytes;
    bytes -= holding.bytes;
    if (own.parts.size === 0) all.parts.delete(member);
    if (all.parts.size === 0) groups.delete(group);
  }

  return {
    get bytes() {
      return bytes;
    },
    add,
  };
}

/** Returns the entry with the most bytes; the first of equal ones. */
function largest<One extends Held<unknown>>(held: ReadonlyMap<string, One>): [string, One] {
  return [...held].reduce((most, each) => (each[1].bytes > most[1].bytes ? each : most));
}
