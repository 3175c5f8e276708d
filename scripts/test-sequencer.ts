import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that start and kill whole processes and wait for them: they take much time and little of the machine. */
const WAITS = /^test\/pipeline\//;

/**
 * Begins with the files that mostly wait, alternating with files that work, so that the machine runs both kinds at the
 * same time. Without this order, and without durations of an earlier run, as on a clean checkout, Vitest orders files
 * by size: the shortest file of all, which takes minutes, would come last and run alone.
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
