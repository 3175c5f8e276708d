import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Starts and kills whole processes and waits for them: takes long on the clock and little of the machine. */
const WAITS = /^test\/pipeline\//;

/**
 * Begins with the files that mostly wait, every other one of them a file that works, so that the machine has both at a
 * time. Vitest orders files by size when it has no durations of an earlier run, as on a clean checkout; the shortest file
 * of all, which takes minutes, came last and ran alone.
 */
export default class WaitingFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const groups = new Map<number, TestSpecification[]>();
    for (const file of sorted) {
      const { groupOrder } = file.project.config.sequence;
      groups.set(groupOrder, [...(groups.get(groupOrder) ?? []), file]);
    }
    return [...groups].sort(([a], [b]) => a - b).flatMap(([, group]) => inTurn(group));
  }
}

function inTurn(files: readonly TestSpecification[]): TestSpecification[] {
  const waits = ({ project, moduleId }: TestSpecification) => WAITS.test(relative(project.config.root, moduleId));
  const [waiting, working] = [files.filter(waits), files.filter((each) => !waits(each))];
  const turns = Array.from({ length: Math.max(waiting.length, working.length) }, (_, i) => [waiting[i], working[i]]);
  return turns.flat().filter((file) => file !== undefined);
}
