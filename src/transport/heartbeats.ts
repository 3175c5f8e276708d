/** Something that is called in regular intervals. */
export interface Beating {
  beat(): void;
}

/** Calls each member once in an interval, with one timer for all. */
export interface Heartbeats {
  add(member: Beating): void;
  delete(member: Beating): void;
}

/** Parts of an interval. Each calls its share of the members, so that thousands of them never block the event loop. */
const SLOTS = 30;

/**
 * The first call of a member comes within an interval, each further one after an interval. The timer runs while there
 * are members.
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
