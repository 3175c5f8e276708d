/** An object that is called at regular intervals. */
export interface Beating {
  beat(): void;
}

/** Calls each member once per interval, with one timer for all. */
export interface Heartbeats {
  add(member: Beating): void;
  delete(member: Beating): void;
}

/**
 * Number of slots of an interval. Each slot calls its share of the members, so that thousands of them never block the
 * event loop.
 */
const SLOTS = 30;

/**
 * Creates heartbeats. The first call of a member comes within an interval, each further one after another interval. The
 * timer runs only while there are members.
 * @param intervalMs milliseconds
 */
export function createHeartbeats(intervalMs: number): Heartbeats {
  const slots = Array.from({ length: SLOTS }, () => new Set<Beating>());
  const slotOf = new WeakMap<Beating, Set<Beating>>();
  let members = 0;
  let added = 0;
  let turn = 0;
  let timer: NodeJS.Timeout | null = null;

  function beat(): void {
    turn = (turn + 1) % SLOTS;
    for (const member of slots[turn] ?? []) member.beat();
  }

  return {
    add(member) {
      const slot = slots[added++ % SLOTS] as Set<Beating>;
      slotOf.set(member, slot.add(member));
      members++;
      timer ??= setInterval(beat, intervalMs / SLOTS);
    },
    delete(member) {
      if (!slotOf.get(member)?.delete(member) || --members > 0 || !timer) return;
      clearInterval(timer);
      timer = null;
    },
  };
}
