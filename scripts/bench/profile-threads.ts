import { mkdir, rm, writeFile } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import { type CpuProfile, threadName } from './fold-profiles.ts';

/** CPU profiles in progress. */
export interface ThreadProfiles {
  /**
   * Ends them and writes one `.cpuprofile` for each thread, which browsers' developer tools show as a flame graph.
   * @param folder is emptied before
   */
  end(folder: string): Promise<void>;
}

/** Time between two samples, microseconds. */
const INTERVAL_US = 500;

/** Calls a method of the inspector. */
type Post = (method: string, params?: object) => Promise<unknown>;

/** Starts CPU profiles of all threads of this process that run now. */
export async function startThreadProfiles(): Promise<ThreadProfiles> {
  const session = new Session();
  session.connect();
  const main: Post = (method, params) => session.post(method as 'Profiler.stop', params as undefined);
  const threads = [main, ...(await workersOf(session))];
  await Promise.all(
    threads.map(async (post) => {
      await post('Profiler.enable');
      await post('Profiler.setSamplingInterval', { interval: INTERVAL_US });
      await post('Profiler.start');
    }),
  );
  return {
    async end(folder) {
      await rm(folder, { recursive: true, force: true });
      await mkdir(folder, { recursive: true });
      // A thread that has ended since answers nothing.
      const ended = await Promise.all(threads.map((post) => post('Profiler.stop').catch(() => null)));
      for (const [index, answer] of ended.entries()) {
        if (answer === null) continue;
        const { profile } = answer as { profile: CpuProfile };
        const name = index === 0 ? 'main' : threadName(profile);
        await writeFile(join(folder, `${String(index).padStart(2, '0')}-${name}.cpuprofile`), JSON.stringify(profile));
      }
      session.disconnect();
    },
  };
}

/** Returns the worker threads of this process. Messages go to each through the main thread's session. */
async function workersOf(session: Session): Promise<Post[]> {
  const workers: Post[] = [];
  const answers = new Map<string, PromiseWithResolvers<unknown>>();
  let lastId = 0;
  session.on('NodeWorker.attachedToWorker', ({ params: { sessionId } }) => {
    workers.push((method, params = {}) => {
      const id = ++lastId;
      const answer = Promise.withResolvers<unknown>();
      answers.set(`${sessionId} ${id}`, answer);
      const message = JSON.stringify({ id, method, params });
      session.post('NodeWorker.sendMessageToWorker', { sessionId, message }).catch(answer.reject);
      return answer.promise;
    });
  });
  session.on('NodeWorker.receivedMessageFromWorker', ({ params: { sessionId, message } }) => {
    const { id, result, error } = JSON.parse(message);
    const answer = answers.get(`${sessionId} ${id}`);
    answers.delete(`${sessionId} ${id}`);
    if (error) answer?.reject(new Error(error.message));
    else answer?.resolve(result);
  });
  session.on('NodeWorker.detachedFromWorker', ({ params: { sessionId } }) => {
    for (const [key, answer] of answers)
      if (key.startsWith(`${sessionId} `)) answer.reject(new Error('the thread has ended'));
  });
  await session.post('NodeWorker.enable', { waitForDebuggerOnStart: false });
  return workers;
}
