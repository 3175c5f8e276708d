import type { OpenAdministration } from '../app/administration.ts';
import type { CommandContext } from './command.ts';

/** Opens the store of the configuration for the time of `work`. @throws when it can't be had, and what `work` throws */
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
