import type { OpenAdministration } from '../app/administration.ts';
import type { CommandContext } from './command.ts';

/**
 * Opens the configured store, runs `work` with it and closes it.
 * @throws when the store cannot be opened, and what `work` throws
 */
export async function administer<T>(
  { config, parts }: CommandContext,
  work: (administration: OpenAdministration) => Promise<T>,
): Promise<T> {
  const administration = await parts.openAdministration(config());
  try {
    return await work(administration);
  } finally {
    await administration.close();
  }
}
