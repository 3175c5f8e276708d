import type { CommandStartedEvent, Document } from 'mongodb';
import { expect } from 'vitest';
import type { Store } from '../../src/storage/connect.ts';

const QUERIES = ['find', 'findAndModify', 'update', 'aggregate', 'count', 'delete'];

/** Returns every stage of a plan, including inner ones. */
function stagesOf(plan: Document): string[] {
  const inner = [plan.inputStage, ...(plan.inputStages ?? [])].filter(Boolean);
  return [plan.stage, ...inner.flatMap(stagesOf)];
}

/** Returns a command for each statement of an update, because a server explains no batch. */
function statementsOf(command: Document): Document[] {
  if (!Array.isArray(command.updates)) return [command];
  return command.updates.map((each) => ({ ...command, updates: [each] }));
}

/** Explains the reads and updates that calls to this store send. */
export function queryPlans({ client, db }: Store) {
  const seen: CommandStartedEvent[] = [];
  client.on('commandStarted', (event) => seen.push(event));

  async function plansOf(call: () => Promise<unknown>): Promise<{ stages: string[]; examined: number }[]> {
    seen.length = 0;
    await call();
    const plans = [];
    for (const { command } of seen.filter(({ commandName }) => QUERIES.includes(commandName))) {
      const {
        lsid: _l,
        txnNumber: _t,
        $clusterTime: _c,
        $db: _d,
        writeConcern: _w,
        readConcern: _r,
        startTransaction: _s,
        autocommit: _a,
        ...explained
      } = command;
      for (const single of statementsOf(explained)) {
        const answer = await db.command({ explain: single, verbosity: 'executionStats' });
        // An aggregation contains the plan of its first stage, which reads.
        const { queryPlanner, executionStats } = answer.queryPlanner ? answer : answer.stages[0].$cursor;
        const plan = queryPlanner.winningPlan;
        plans.push({ stages: stagesOf(plan.queryPlan ?? plan), examined: executionStats?.totalDocsExamined ?? 0 });
      }
    }
    return plans;
  }

  return {
    /**
     * Asserts that a call queries by indexes alone, without sorting, and examines at most `most` documents per
     * statement.
     */
    async expectIndexed(call: () => Promise<unknown>, most: number): Promise<void> {
      const plans = await plansOf(call);
      expect(plans.length).toBeGreaterThan(0);
      for (const { stages, examined } of plans) {
        expect(stages).not.toContain('COLLSCAN');
        expect(stages).not.toContain('SORT');
        expect(examined).toBeLessThanOrEqual(most);
      }
    },
  };
}
