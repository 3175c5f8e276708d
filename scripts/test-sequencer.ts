import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Starts and kills whole processes and waits for them: takes long on the clock and little of the machine. */
const WAITS = /^test\/pipeline\//;

/**
 * Puts the files that mostly wait before the others of their project. Vitest orders files by size when it has no
 * durations of an earlier run, as on a clean checkout; the shortest file of all, which takes minutes, came last and ran
 * alone.
 */
export default class WaitingFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const place = ({ project, moduleId }: TestSpecification) =>
      project.config.sequence.groupOrder * 2 + (WAITS.test(relative(project.config.root, moduleId)) ? 0 : 1);
    return sorted.sort((a, b) => place(a) - place(b));
  }
}
